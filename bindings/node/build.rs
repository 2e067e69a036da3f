//! Tells the linker that Node resolves the symbols.
fn main() {
    napi_build::setup();
}
