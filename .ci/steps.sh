# Running, timing and reporting steps. Sourced by .ci/run.

readonly LOGS=target/ci
# A log of an earlier run must not be quoted as this one's.
rm -rf "$LOGS"
mkdir -p "$LOGS"

table=()        # rows of the closing table: "minutes|result|name|remark"
failed=0

minutes() { # from a start in whole seconds to now
    awk -v s="$1" -v e="$(date +%s)" 'BEGIN { printf "%.1f", (e - s) / 60 }'
}

record() { # result name minutes remark
    table+=("$3|$1|$2|${4:-}")
    echo "=== $1: $2 ($3 min)${4:+: $4}"
}

# step NAME COMMAND…: runs the command, keeps its log, notes the time, and lets later steps run whatever happens.
step() {
    local name="$1" start log
    shift
    start="$(date +%s)"
    log="$LOGS/${name//[^A-Za-z0-9]/-}.log"
    echo
    echo "=== $name: $*"
    if "$@" 2>&1 | tee "$log"; then
        record ok "$name" "$(minutes "$start")"
    else
        failed=1
        record FAILED "$name" "$(minutes "$start")"
    fi
}

# suite NAME COMMAND…: a step that may say it cannot run here, by exit code 77 and a last line with the reason.
suite() {
    local name="$1" start log code=0
    shift
    start="$(date +%s)"
    log="$LOGS/${name//[^A-Za-z0-9]/-}.log"
    echo
    echo "=== $name: $*"
    "$@" 2>&1 | tee "$log" || code=$?
    case "$code" in
        0) record ok "$name" "$(minutes "$start")" ;;
        77) record "not run" "$name" "$(minutes "$start")" "$(tail -n 1 "$log")" ;;
        *) failed=1; record FAILED "$name" "$(minutes "$start")" ;;
    esac
}

# package FOLDER: the name of the package there
package() {
    sed -n 's/^name = "\(.*\)"/\1/p' "$1/Cargo.toml" | head -n 1
}

# not_run NAME REASON
not_run() {
    echo
    record "not run" "$1" 0.0 "$2"
}

# The closing table, then what cargo test itself reported, so that it is the end of the log.
summary() {
    local row minutes result name remark total
    total="$(awk -v s="$SECONDS" 'BEGIN { printf "%.1f", s / 60 }')"
    echo
    printf '%-8s %-8s %s\n' minutes result step
    for row in "${table[@]}"; do
        IFS='|' read -r minutes result name remark <<<"$row"
        printf '%-8s %-8s %s\n' "$minutes" "$result" "$name${remark:+ ($remark)}"
    done
    printf '%-8s %-8s %s\n' "$total" "$([[ $failed -eq 0 ]] && echo ok || echo FAILED)" "in all"
    if [[ -f "$LOGS/tests.log" ]]; then
        echo
        echo "$(readme_test_command), as it reported:"
        grep -E '^(test result:|test .* FAILED$|error: test failed)' "$LOGS/tests.log" || true
    fi
    return "$failed"
}
