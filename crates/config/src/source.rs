//! Where a configuration came from, so that it can be read again while the gateway runs, and written: the file, and
//! what holds over it. A file is replaced in one step or not at all, with the rights it had.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_inspect::Digest;

use super::file::{copy_owner_and_rights, replace_file};
use super::locate::{ConfigLocation, LocationSource};
use super::problem::{ConfigError, Problem, Warning};
use super::{Config, EnvFile, Environment, Overrides, read, settle};

/// A change that is made to every configuration after it was read and before it is used.
pub type Adjustment = dyn Fn(&mut Config) -> Result<(), Problem> + Send + Sync;

/// Where a configuration is from.
#[derive(Clone)]
pub struct Source {
    /// Nothing if not even a place for it is known.
    path: Option<PathBuf>,
    /// Whether the defaults hold where there is no file.
    optional: bool,
    flags: Overrides,
    adjust: Option<Arc<Adjustment>>,
}

/// A configuration as it was read, and what it takes to read it again.
#[derive(Clone, Debug)]
pub struct LoadedConfig {
    /// What holds.
    pub config: Config,
    /// What should not go unread.
    pub warnings: Vec<Warning>,
    /// What it was read from; nothing if it cannot be read again.
    pub source: Option<Source>,
    /// What the file said; nothing if there is none.
    pub text: Option<String>,
    /// The digest of its env file; nothing if there was none.
    pub variables: Option<Digest>,
}

/// A configuration that is not from a file: it cannot be read again.
impl From<Config> for LoadedConfig {
    fn from(config: Config) -> Self {
        Self {
            config,
            warnings: Vec::new(),
            source: None,
            text: None,
            variables: None,
        }
    }
}

impl Source {
    /// The file that was found, under these flags. Where none was found, the defaults hold until there is one.
    pub fn from_located(located: &ConfigLocation, flags: Overrides) -> Self {
        Self {
            path: located.path.clone(),
            optional: located.source == LocationSource::Nowhere,
            flags,
            adjust: None,
        }
    }

    /// The same, with something done to every configuration that is read.
    #[must_use]
    pub fn adjusted(
        mut self,
        adjust: impl Fn(&mut Config) -> Result<(), Problem> + Send + Sync + 'static,
    ) -> Self {
        self.adjust = Some(Arc::new(adjust));
        self
    }

    /// Reads the configuration for the first time.
    pub fn open(self) -> Result<LoadedConfig, ConfigError> {
        let text = self.read()?;
        let variables = self.variables(text.as_deref());
        let (config, warnings) = self.resolve(text.as_deref())?;
        Ok(LoadedConfig {
            config,
            warnings,
            source: self.path.is_some().then_some(self),
            text,
            variables,
        })
    }

    /// The file; where none is known, its usual name.
    pub fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new("mcp_config.json"))
    }

    /// What the file says now; nothing if there is none and there need not be one. Blocks.
    pub fn read(&self) -> Result<Option<String>, ConfigError> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        match read(path) {
            Err(ConfigError::Read { source, .. })
                if self.optional && source.kind() == io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            text => text.map(Some),
        }
    }

    /// The digest of the env file that a configuration with this text has now. Blocks.
    pub fn variables(&self, text: Option<&str>) -> Option<Digest> {
        EnvFile::locate(text, &Environment::process(), &self.flags).digest()
    }

    /// The configuration that holds when the file says this. Blocks: it asks for the file's rights.
    pub fn resolve(&self, text: Option<&str>) -> Result<(Config, Vec<Warning>), ConfigError> {
        let environment = Environment::process();
        let file = text.map(|text| (text, self.path()));
        let (mut config, warnings) = settle(file, &environment, &self.flags)?;
        if let Some(adjust) = &self.adjust {
            adjust(&mut config)?;
        }
        Ok((config, warnings))
    }

    /// Replaces the file. A program that reads it meanwhile sees the old text or the new one. Blocks.
    pub fn write(&self, text: &str) -> io::Result<()> {
        // A link stays one.
        let file = fs::canonicalize(self.path()).unwrap_or_else(|_| self.path().to_owned());
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        replace_file(&file, text.as_bytes(), |new| {
            copy_owner_and_rights(new, &file)
        })
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn source(path: PathBuf, origin: LocationSource) -> Source {
        let located = ConfigLocation {
            path: Some(path),
            source: origin,
        };
        Source::from_located(&located, Overrides::default())
    }

    #[test]
    fn a_file_is_replaced_with_its_rights_and_its_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("real.json");
        let link = folder.path().join("link.json");
        fs::write(&file, "{}").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("set");
        symlink(&file, &link).expect("a link");
        source(link.clone(), LocationSource::Flag)
            .write("{ }")
            .expect("written");
        assert_eq!(fs::read_to_string(&file).expect("a file"), "{ }");
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert_eq!(fs::metadata(&file).expect("a file").mode() & 0o777, 0o640);
        let new = folder.path().join("deep/new.json");
        source(new.clone(), LocationSource::Nowhere)
            .write("{}")
            .expect("written");
        assert_eq!(fs::metadata(&new).expect("a file").mode() & 0o777, 0o600);
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 3);
    }

    #[test]
    fn a_missing_file_is_the_defaults_only_where_no_flag_names_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("none.json");
        let optional = source(path.clone(), LocationSource::Nowhere);
        assert_eq!(optional.read().expect("no file"), None);
        assert!(source(path, LocationSource::Flag).read().is_err());
        let opened = optional.adjusted(|config| {
            config
                .servers
                .push(super::super::Server::stdio("a", "x", []));
            Ok(())
        });
        assert_eq!(opened.open().expect("defaults").config.servers.len(), 1);
    }
}
