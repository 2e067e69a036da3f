//! Where the gateway of `serve --demo` lives: in a data directory of its own and without a configuration file, so that
//! it neither starts the user's servers nor writes into their activity store.

use std::path::PathBuf;

use countersign_config::{Environment, Located, Origin, Overrides};

/// The configuration of the demo: no file, and a data directory of its own unless a flag names another.
pub(super) fn configuration(flags: &mut Overrides) -> Located {
    flags.data_dir.get_or_insert_with(data_dir);
    Located {
        path: None,
        source: Origin::Nowhere,
    }
}

fn data_dir() -> PathBuf {
    let environment = Environment::process();
    let home = environment.home().unwrap_or_else(|| "".as_ref());
    home.join(".countersign/demo")
}
