# The five common commands. `make` lists them.

.PHONY: help demo test lint ci bench

help:
	@echo 'make demo    the gateway with a demo server'
	@echo 'make test    the tests; they need nothing but Rust'
	@echo 'make lint    format, clippy and documentation, warnings as errors'
	@echo 'make ci      everything that decides whether a change may land'
	@echo 'make bench   the gateway beside a bare proxy'

demo:
	cargo run --release -- serve --demo

test:
	cargo test --workspace

lint:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps

ci:
	.ci/run

bench:
	cargo bench -p countersign-gateway --bench proxy
