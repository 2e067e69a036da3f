//! `countersign config init`: a file with every key and its default. Never overwrites one unless told to; only its owner
//! may read it, since keys end up in it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use countersign_config::{Environment, locate, template};

use crate::files;
use crate::report::{Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign config init
  countersign config init ./mcp_config.json
  countersign config init - | less";

/// Write a configuration file with every key and its default
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Where to write it, if not the usual place; '-' prints it
    file: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let path = match &arguments.file {
        Some(path) if path.as_os_str() == "-" => {
            console.data(template())?;
            return Ok(Exit::Ok);
        }
        Some(path) => path.clone(),
        None => usual_place()?,
    };
    write(&path, arguments.force).map_err(|error| refused(&path, error))?;
    let shown = printable(&path.to_string_lossy());
    console.message(format!("wrote {shown}\n"));
    console
        .message("hint: add servers under \"mcpServers\", then run `countersign config check`\n");
    Ok(Exit::Ok)
}

/// The place of our own file, whether or not mcpproxy has one.
fn usual_place() -> Result<PathBuf, Failure> {
    let environment = Environment::process();
    let home = environment
        .home()
        .map(|home| home.join(".countersign/mcp_config.json"));
    let named = locate(None, &environment);
    let named = named
        .file()
        .filter(|_| named.is_named())
        .map(Path::to_owned);
    named.or(home).ok_or_else(|| {
        let error = anyhow!("no home directory is known, so there is no usual place for the file");
        Failure::usage(error).hint("name one: countersign config init ./mcp_config.json")
    })
}

fn write(path: &Path, force: bool) -> io::Result<()> {
    if force {
        return files::write_private(path, template().as_bytes());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(path)?;
    file.write_all(template().as_bytes())?;
    file.sync_all()
}

fn refused(path: &Path, error: io::Error) -> Failure {
    let exists = error.kind() == io::ErrorKind::AlreadyExists;
    let error = anyhow!(error).context(format!("cannot write '{}'", path.display()));
    let hint = if exists {
        "`countersign config check` says whether it is right; --force replaces it"
    } else {
        "name another place: countersign config init FILE"
    };
    Failure::usage(error).hint(hint)
}
