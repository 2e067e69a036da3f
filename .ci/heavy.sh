# The heavy tier: figures for the documentation and long searches for bugs. Sourced by .ci/run.

heavy() {
    local crate name
    for crate in crates/*/; do
        if [[ -d "$crate/benches" ]]; then
            name="$(package "$crate")"
            step "bench $name" env AUDIT_BENCH_MILLION=1 cargo bench --locked -p "$name"
        fi
    done
    if has_postgresql; then
        step "bench of PostgreSQL" env AUDIT_BENCH_MILLION=1 cargo bench --locked -p countersign-audit -- postgres
    else
        not_run "bench of PostgreSQL" "PostgreSQL is not installed"
    fi
    step "kill the gateway 50 times" env COUNTERSIGN_TEST_KILLS=50 cargo test --locked -p countersign --test it killed
    step "kill PostgreSQL 20 times" env COUNTERSIGN_TEST_KILLS=20 \
        cargo test --locked -p countersign-audit --test it -- --ignored a_server_that_is_killed
    step "kill one of two gateways 20 times" env COUNTERSIGN_TEST_KILLS=20 \
        cargo test --locked -p countersign --test it -- --ignored a_gateway_that_is_killed_has
    if [[ -n "${COUNTERSIGN_EARLIER:-}" ]]; then
        step "two builds on one database" cargo test --locked -p countersign --test it -- --ignored on_an_earlier_build
    else
        not_run "two builds on one database" "COUNTERSIGN_EARLIER names no program of an earlier build"
    fi
    suite "build with a profile" bench/profile-guided
    step "verdict beside parsers" cargo run --release --locked --manifest-path bench/parsers/Cargo.toml
    suite "load beside wrk" bench/load-vs-wrk
    step "soak the load tester" bench/soak
    # The int8 kernels of the reference differ between processors: one score was 0.033 away where 0.03 is allowed.
    suite "local model beside its own package" interop/local-model/run
    fuzz
    [[ ${#table[@]} -gt 0 ]] || not_run heavy "there is no bench and no fuzz target yet"
}

# Each target for FUZZ_SECONDS. cargo-fuzz needs a nightly compiler. The boundary targets begin with seeds of their own.
fuzz() {
    [[ -d fuzz ]] || return 0
    if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
        not_run fuzz "needs a nightly toolchain and cargo-fuzz"
        return
    fi
    local target dictionary
    step "seeds of the boundary" cargo +nightly run --manifest-path fuzz/Cargo.toml --example seeds
    for target in $(cd fuzz && cargo +nightly fuzz list); do
        dictionary=()
        case "$target" in
            client_* | upstream_*) dictionary=("-dict=$PWD/fuzz/protocol.dict") ;;
        esac
        step "fuzz $target" cargo +nightly fuzz run "$target" -- "-max_total_time=${FUZZ_SECONDS:-600}" "${dictionary[@]}"
    done
}
