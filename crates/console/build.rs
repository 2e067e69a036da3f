//! Compresses the assets, so that the gateway does not have to.

use std::io::Write as _;
use std::path::Path;

use flate2::{Compression, GzBuilder};

const ASSETS: [&str; 3] = ["console.css", "console.js", "icon.svg"];

fn main() -> std::io::Result<()> {
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    for name in ASSETS {
        let path = Path::new("assets").join(name);
        println!("cargo:rerun-if-changed={}", path.display());
        let content = std::fs::read(path)?;
        let file = std::fs::File::create(Path::new(&out).join(format!("{name}.gz")))?;
        // Without a time or a name in it, the same content gives the same bytes.
        let mut gzip = GzBuilder::new().write(file, Compression::best());
        gzip.write_all(&content)?;
        gzip.finish()?;
    }
    Ok(())
}
