//! Where the gateway of `serve --demo` lives: in a data directory of its own and without a configuration file, so that
//! it neither starts the user's servers nor writes into their activity store.

use std::path::PathBuf;

use countersign_config::{ConfigLocation, Environment, LocationSource, Overrides};

/// The configuration of the demo: no file, and a data directory of its own unless a flag names another.
pub(super) fn configuration(flags: &mut Overrides) -> ConfigLocation {
    flags.data_dir.get_or_insert_with(data_dir);
    ConfigLocation {
        path: None,
        source: LocationSource::Nowhere,
    }
}

fn data_dir() -> PathBuf {
    let environment = Environment::process();
    let home = environment.home().unwrap_or_else(|| "".as_ref());
    home.join(".countersign/demo")
}
