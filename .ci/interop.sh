# The interop tier: suites against third-party clients and servers. Sourced by .ci/run.
#
# A suite is an executable interop/<name>/run. It installs what it needs from committed lock files, exits 0 when it
# passed, 77 when it cannot run on this machine (the last line says why), anything else when it failed.

interop() {
    local run found=0
    for run in interop/*/run; do
        [[ -x "$run" ]] || continue
        # By hand, in the heavy tier: its tolerance does not fit every processor yet.
        [[ "$run" != interop/local-model/run ]] || continue
        found=1
        suite "interop: $(basename "$(dirname "$run")")" "$run"
    done
    if [[ $found -eq 0 ]]; then
        not_run interop "there is no suite under interop/ yet"
    fi
}
