//! Writes the inputs that the search of the boundary targets begins with to `corpus/<target>`.

#[path = "../../crates/gateway/tests/support/boundary.rs"]
#[expect(dead_code, reason = "only the seeds are wanted")]
mod boundary;

use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    write("client_body", boundary::seeds::client_bodies())?;
    write("upstream_line", boundary::seeds::upstream_lines())?;
    write("upstream_sse", boundary::seeds::upstream_events())?;
    write("upstream_http", boundary::seeds::upstream_bodies())?;
    write("upstream_tools", boundary::seeds::upstream_tools())
}

fn write(target: &str, seeds: impl Iterator<Item = Vec<u8>>) -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    std::fs::create_dir_all(&folder)?;
    for (index, seed) in seeds.enumerate() {
        std::fs::write(folder.join(format!("seed-{index:04}")), seed)?;
        // The same choices, as the beginning of something grown.
        if index % 8 == 0 {
            let mut entropy = boundary::Entropy::Seed(index as u64);
            let mut grown = vec![(index / 8 % 256) as u8 | 1, (index / 16 % 256) as u8];
            grown.extend((0..64).flat_map(|_| entropy.next().to_le_bytes()));
            std::fs::write(folder.join(format!("grown-{index:04}")), grown)?;
        }
    }
    Ok(())
}
