//! The reference vectors of Certificate Transparency (the eight leaves that its implementations share), RFC 6962's
//! recursive definitions written down once more, and every proof of every small tree.

use countersign_inspect::{decode_hex, encode_hex};

use super::*;

const LEAVES: [&str; 8] = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
];
/// The root of the first leaf, of the first two, and so on.
const ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
    (0..hex.len()).step_by(2).map(pair).collect()
}

fn reference_leaves() -> Vec<Digest> {
    LEAVES.map(|leaf| leaf_hash(&bytes(leaf))).to_vec()
}

fn digest(hex: &str) -> Digest {
    Digest::from_bytes(decode_hex(hex).expect("a digest"))
}

fn hexes(path: &[Digest]) -> Vec<String> {
    path.iter()
        .map(|hash| encode_hex(hash.as_bytes()))
        .collect()
}

/// RFC 6962, section 2.1, as it is written.
fn rfc_root(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => empty_root(),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            node_hash(&rfc_root(left), &rfc_root(right))
        }
    }
}

#[test]
fn the_reference_tree_has_its_roots() {
    assert_eq!(
        empty_root().to_string(),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    let leaves = reference_leaves();
    let mut frontier = Frontier::default();
    assert_eq!(frontier.root(), empty_root());
    for (leaf, expected) in leaves.iter().zip(ROOTS) {
        frontier.push(*leaf);
        assert_eq!(frontier.root().to_string(), expected);
        let size = frontier.size();
        let Ok(root) = root(&mut leaves.as_slice(), size);
        assert_eq!(root.to_string(), expected);
    }
}

#[test]
fn the_reference_tree_has_its_inclusion_paths() {
    let leaves = reference_leaves();
    let cases: [(u64, u64, &[&str]); 5] = [
        (0, 1, &[]),
        (
            0,
            8,
            &[
                "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
            ],
        ),
        (
            5,
            8,
            &[
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ],
        ),
        (
            2,
            3,
            &["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
        ),
        (
            1,
            5,
            &[
                "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            ],
        ),
    ];
    for (index, size, expected) in cases {
        let Ok(path) = inclusion_path(&mut leaves.as_slice(), index, size);
        assert_eq!(hexes(&path), expected, "leaf {index} of {size}");
    }
}

#[test]
fn the_reference_tree_has_its_consistency_paths() {
    let leaves = reference_leaves();
    let cases: [(u64, u64, &[&str]); 4] = [
        (1, 1, &[]),
        (
            1,
            8,
            &[
                "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
            ],
        ),
        (
            6,
            8,
            &[
                "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ],
        ),
        (
            2,
            5,
            &[
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            ],
        ),
    ];
    for (old, size, expected) in cases {
        let Ok(path) = consistency_path(&mut leaves.as_slice(), old, size);
        assert_eq!(hexes(&path), expected, "{old} to {size}");
        let at = |size: u64| {
            (
                size,
                digest(ROOTS[usize::try_from(size - 1).expect("small")]),
            )
        };
        assert!(is_consistent(at(old), at(size), &path));
    }
}

/// Sizes around every boundary of a tile, and all small ones.
fn sizes() -> impl Iterator<Item = u64> {
    (1..=40).chain([255, 256, 257, 300, 511, 512, 513, 700])
}

#[test]
fn every_path_leads_to_the_root_and_nothing_else_does() {
    let leaves: Vec<Digest> = (0..700_u32).map(|i| leaf_hash(&i.to_be_bytes())).collect();
    for size in sizes() {
        let expected = rfc_root(&leaves[..usize::try_from(size).expect("small")]);
        let Ok(root) = root(&mut leaves.as_slice(), size);
        assert_eq!(root, expected, "{size}");
        let step = if size > 40 { 13 } else { 1 };
        for index in (0..size).step_by(step) {
            let leaf = leaves[usize::try_from(index).expect("small")];
            let Ok(path) = inclusion_path(&mut leaves.as_slice(), index, size);
            assert_eq!(root_from_path(leaf, index, size, &path), Some(root));
            assert_ne!(
                root_from_path(leaf, index ^ 1, size, &path),
                Some(root),
                "{index} {size}"
            );
            assert_ne!(
                root_from_path(leaf_hash(b"x"), index, size, &path),
                Some(root)
            );
            let longer = [path.as_slice(), &[leaf]].concat();
            assert_eq!(root_from_path(leaf, index, size, &longer), None);
            if let [_, shorter @ ..] = path.as_slice() {
                assert_ne!(root_from_path(leaf, index, size, shorter), Some(root));
            }
            for at in 0..path.len() {
                let mut other = path.clone();
                other[at] = leaf_hash(b"y");
                assert_ne!(root_from_path(leaf, index, size, &other), Some(root));
            }
        }
        assert_eq!(root_from_path(root, size, size, &[]), None);
    }
}

#[test]
fn every_smaller_tree_is_shown_to_be_a_prefix() {
    let leaves: Vec<Digest> = (0..700_u32).map(|i| leaf_hash(&i.to_be_bytes())).collect();
    let rfc = |size: u64| {
        (
            size,
            rfc_root(&leaves[..usize::try_from(size).expect("small")]),
        )
    };
    for size in sizes() {
        let step = if size > 40 { 17 } else { 1 };
        for old in (1..=size).step_by(step) {
            let Ok(path) = consistency_path(&mut leaves.as_slice(), old, size);
            assert!(path.len() <= MAX_PATH);
            assert!(is_consistent(rfc(old), rfc(size), &path), "{old} to {size}");
            let forked = (old, leaf_hash(b"z"));
            assert!(!is_consistent(forked, rfc(size), &path), "{old} to {size}");
        }
    }
}
