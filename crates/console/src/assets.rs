//! The style sheet and the script. Their names hold a hash of their content, so that a browser may keep them for ever. They
//! are compressed when the program is built.

use std::sync::LazyLock;

/// A file that pages refer to.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Its content type.
    pub content_type: &'static str,
    /// Its content.
    pub content: &'static [u8],
    /// The same, compressed with gzip.
    pub gzipped: &'static [u8],
}

const CSS: Asset = Asset {
    content_type: "text/css; charset=utf-8",
    content: include_bytes!("../assets/console.css"),
    gzipped: include_bytes!(concat!(env!("OUT_DIR"), "/console.css.gz")),
};
const SCRIPT: Asset = Asset {
    content_type: "text/javascript; charset=utf-8",
    content: include_bytes!("../assets/console.js"),
    gzipped: include_bytes!(concat!(env!("OUT_DIR"), "/console.js.gz")),
};
const ICON: Asset = Asset {
    content_type: "image/svg+xml",
    content: include_bytes!("../assets/icon.svg"),
    gzipped: include_bytes!(concat!(env!("OUT_DIR"), "/icon.svg.gz")),
};

static NAMES: LazyLock<[String; 3]> = LazyLock::new(|| {
    [
        name("console", "css", CSS.content),
        name("console", "js", SCRIPT.content),
        name("icon", "svg", ICON.content),
    ]
});

/// The asset with this name.
pub fn asset(name: &str) -> Option<Asset> {
    let all = NAMES.iter().zip([CSS, SCRIPT, ICON]);
    let mut all = all.filter(|(known, _)| *known == name);
    all.next().map(|(_, asset)| asset)
}

/// Where pages find the style sheet, the script and the icon.
pub(crate) fn paths() -> [String; 3] {
    NAMES
        .each_ref()
        .map(|name| format!("/console/assets/{name}"))
}

/// Where pages of the gateway outside of the console find the style sheet.
pub fn stylesheet() -> String {
    let [path, ..] = paths();
    path
}

/// FNV-1a: it tells contents apart, and protects nothing.
fn name(stem: &str, ending: &str, content: &[u8]) -> String {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = content.iter().fold(0xcbf2_9ce4_8422_2325, mix);
    format!("{stem}.{hash:016x}.{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asset_is_found_by_its_hashed_name_only() {
        for path in paths() {
            let name = path.strip_prefix("/console/assets/").expect("a path");
            assert!(asset(name).is_some(), "{name}");
        }
        assert!(asset("console.css").is_none() && asset("").is_none());
    }

    #[test]
    fn all_assets_together_are_small() {
        let all = [CSS, SCRIPT, ICON].map(|asset| asset.content.len());
        assert!(all.iter().sum::<usize>() < 120 * 1024, "{all:?}");
        for asset in [CSS, SCRIPT] {
            assert!(asset.gzipped.starts_with(&[0x1f, 0x8b]), "gzip");
            assert!(asset.gzipped.len() < asset.content.len());
        }
    }

    /// The content security policy forbids what they would do.
    #[test]
    fn assets_refer_to_nothing_elsewhere() {
        for asset in [CSS, SCRIPT] {
            let text = std::str::from_utf8(asset.content).expect("UTF-8");
            for forbidden in ["http:", "https:", "@import", "innerHTML", "eval("] {
                assert!(!text.contains(forbidden), "{forbidden}");
            }
        }
    }
}
