# The core tier: needs Rust and the package registry. Sourced by .ci/run.

readonly DENY_VERSION=0.20.2
readonly TYPOS_VERSION=1.51.1
readonly SCHEMA_CRATES_MAX=15

# The command a newcomer is told to run, read from the README so the two cannot differ.
readme_test_command() {
    grep -m 1 -oE '^cargo test( .*)?$' README.md
}

core() {
    install_deny &
    local installing=$!

    step format cargo fmt --all --check
    step clippy cargo clippy --locked --workspace --all-targets -- -D warnings
    step "clippy of the local model" cargo clippy --locked -p countersign-classify -p countersign-gateway \
        --features countersign-gateway/local-model --all-targets -- -D warnings
    step tests fresh_clone_tests
    step docs env RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps
    step "schema dependencies" schema_dependencies
    suite typos typos
    step packages packages
    # They are a workspace of their own, so nothing else notices when they no longer build.
    step "fuzz targets" env CARGO_TARGET_DIR=target/fuzz cargo check --locked --manifest-path fuzz/Cargo.toml --all-targets
    data_suites
    tests_with_tools

    await_deny "$installing"
    # No advisories: their database is a git repository that is not reachable everywhere.
    step deny cargo deny --locked check bans licenses sources
}

# Takes minutes on a new machine, so it runs beside the build, in a target directory of its own.
install_deny() {
    cargo deny --version >/dev/null 2>&1 ||
        env -u CARGO_TARGET_DIR cargo install "cargo-deny@$DENY_VERSION" --locked >"$LOGS/install-deny.log" 2>&1
}

await_deny() { # process id of the installation
    local start
    start="$(date +%s)"
    echo
    if wait "$1"; then
        record ok "waiting for cargo-deny" "$(minutes "$start")"
    else
        tail -n 20 "$LOGS/install-deny.log"
        failed=1
        record FAILED "installing cargo-deny" "$(minutes "$start")"
    fi
}

# As on a fresh clone: no test data.
fresh_clone_tests() {
    local line words
    line="$(readme_test_command)" || { echo "the README names no test command"; return 1; }
    read -ra words <<<"$line"
    echo "${words[*]}"
    env -u COUNTERSIGN_TEST_DATA "${words[@]}"
}

schema_dependencies() {
    local crates
    crates="$(cargo tree --locked -p countersign-schema -e normal --prefix none --no-dedupe | awk '{ print $1, $2 }' | sort -u)" || return 1
    echo "$crates"
    echo "$(wc -l <<<"$crates") crates, at most $SCHEMA_CRATES_MAX allowed"
    [[ "$(wc -l <<<"$crates")" -le "$SCHEMA_CRATES_MAX" ]]
}

# The tests that `cargo test` reports as ignored because they need test data. Their names end in `on_test_data`.
data_suites() {
    if [[ ! -d "${COUNTERSIGN_TEST_DATA:-}" ]]; then
        not_run "suites on test data" "COUNTERSIGN_TEST_DATA names no directory"
        return
    fi
    step "tests on test data" ignored_tests on_test_data --workspace --lib --tests
    step "JSON Schema suite" cargo run --locked --release -p countersign-schema --example suite -- \
        "$COUNTERSIGN_TEST_DATA/json-schema-test-suite"
}

# The tests that `cargo test` reports as ignored because they need Python, PostgreSQL or the right to mount a file system.
tests_with_tools() {
    if python3 --version >/dev/null 2>&1; then
        step "tests with Python" ignored_tests with_python --workspace --test it
    else
        not_run "tests with Python" "python3 is not installed"
    fi
    if install_postgresql; then
        step "tests with PostgreSQL" ignored_tests with_postgres --workspace --test it
    else
        not_run "tests with PostgreSQL" "PostgreSQL is not installed and cannot be installed here"
    fi
    if [[ "$(id -u)" -eq 0 ]] && has_postgresql && unshare -m mount -t tmpfs x /mnt 2>/dev/null; then
        step "PostgreSQL on a full disk" ignored_tests on_a_postgres_disk --workspace --test it
    else
        not_run "PostgreSQL on a full disk" "needs PostgreSQL, and root to mount a file system"
    fi
    if unshare -rm mount -t tmpfs x /mnt 2>/dev/null; then
        step "tests on a full disk" ignored_tests on_a_mounted_disk --workspace --test it
    else
        not_run "tests on a full disk" "no file system may be mounted here"
    fi
}

# PostgreSQL's server programs: those of this machine, or Debian's package.
install_postgresql() {
    has_postgresql && return
    [[ "$(id -u)" -eq 0 ]] && command -v apt-get >/dev/null || return 1
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends postgresql; } \
        >"$LOGS/install-postgresql.log" 2>&1 || return 1
    has_postgresql
}

has_postgresql() {
    [[ -n "${COUNTERSIGN_TEST_POSTGRES:-}" ]] || command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

# ignored_tests NAME CARGO-ARGUMENTS…: the ignored tests with NAME in their names; fails if there is none. The whole
# workspace is asked, because a part of it would be built anew with other features.
ignored_tests() {
    local name="$1" log
    shift
    log="$LOGS/ignored-$name.log"
    cargo test --locked "$@" -- --ignored "$name" | tee "$log" || return 1
    grep -qE '^test result: ok\. [1-9]' "$log" || { echo "no test has $name in its name"; return 1; }
}

# Misspelt words. The checker is a Python wheel, so it needs no build.
typos() {
    local folder=target/typos
    if [[ ! -x "$folder/bin/typos" ]]; then
        python3 -m venv --clear "$folder" 2>/dev/null || { echo "python3 has no venv"; return 77; }
        "$folder/bin/pip" install --quiet --disable-pip-version-check "typos==$TYPOS_VERSION" ||
            { echo "pip cannot install typos"; return 77; }
    fi
    "$folder/bin/typos"
}

# What would be uploaded, without building it again.
packages() {
    cargo publish --locked --workspace --dry-run --no-verify
}
