//! The file as serde reads it, once `check` has let it through: every key optional, nothing
//! interpreted yet.

use std::collections::BTreeMap;
use std::fmt;

use countersign_inspect::config::{RawInputValidation, RawOutputSanitisation, RawOutputValidation};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawConfig {
    pub(crate) listen: Option<String>,
    pub(crate) api_key: Option<String>,
    pub(crate) admin_key: Option<String>,
    pub(crate) allow_api_commands: Option<bool>,
    pub(crate) require_mcp_auth: Option<bool>,
    pub(crate) trusted_hosts: Vec<String>,
    pub(crate) data_dir: Option<String>,
    pub(crate) routing_mode: Option<String>,
    pub(crate) call_tool_timeout: Option<String>,
    pub(crate) max_message_bytes: Option<usize>,
    pub(crate) max_message_depth: Option<u32>,
    pub(crate) max_inflight_bytes: Option<usize>,
    pub(crate) profile: Option<String>,
    pub(crate) storage: RawStorage,
    pub(crate) activity: RawActivity,
    pub(crate) output_validation: RawOutputValidation,
    pub(crate) input_validation: RawInputValidation,
    pub(crate) output_sanitisation: RawOutputSanitisation,
    pub(crate) classifiers: Vec<RawClassifier>,
    pub(crate) classifier_budget: Option<String>,
    pub(crate) schema_refs: Map<String, Value>,
    #[serde(rename = "mcpServers")]
    pub(crate) servers: RawServers,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawStorage {
    pub(crate) url: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawActivity {
    pub(crate) retention_days: Option<u32>,
    pub(crate) retention_floor_days: Option<u32>,
    pub(crate) max_records: Option<u64>,
    pub(crate) max_size_mb: Option<u64>,
    pub(crate) payloads: Option<String>,
    pub(crate) payload_max_bytes: Option<usize>,
    pub(crate) durability: Option<String>,
    pub(crate) on_store_error: Option<String>,
    pub(crate) signing_key: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawServer {
    pub(crate) name: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) args: Option<Vec<String>>,
    pub(crate) env: Option<BTreeMap<String, String>>,
    pub(crate) working_dir: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) headers: Option<BTreeMap<String, String>>,
    pub(crate) protocol: Option<String>,
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) era: Option<String>,
    pub(crate) enabled: Option<bool>,
    pub(crate) disabled: Option<bool>,
    pub(crate) quarantined: Option<bool>,
    pub(crate) timeout: Option<String>,
    pub(crate) max_concurrent_requests: Option<usize>,
    pub(crate) queue_size: Option<usize>,
    pub(crate) profile: Option<String>,
    pub(crate) output_validation: RawOutputValidation,
    pub(crate) input_validation: RawInputValidation,
    pub(crate) output_sanitisation: RawOutputSanitisation,
    pub(crate) classify: Option<Vec<String>>,
    pub(crate) tools: BTreeMap<String, RawTool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawTool {
    pub(crate) output_validation: RawOutputValidation,
    pub(crate) input_validation: RawInputValidation,
    pub(crate) output_sanitisation: RawOutputSanitisation,
    pub(crate) classify: Option<Vec<String>>,
    pub(crate) free_text: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawClassifier {
    pub(crate) kind: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) action: Option<String>,
    pub(crate) on_error: Option<String>,
    pub(crate) timeout: Option<String>,
    pub(crate) max_concurrent: Option<usize>,
    pub(crate) max_chunks: Option<usize>,
    pub(crate) chunk_chars: Option<usize>,
    pub(crate) cache_entries: Option<usize>,
    pub(crate) cache_ttl: Option<String>,
    pub(crate) breaker_pause: Option<String>,
    pub(crate) headers: Option<BTreeMap<String, String>>,
    pub(crate) threshold: Option<f32>,
    pub(crate) temperature: Option<f32>,
    /// The rest: strings that mean something to a kind or two.
    #[serde(flatten)]
    pub(crate) words: BTreeMap<String, String>,
}

/// Each server with the key it stands under, if it stands under one.
#[derive(Debug, Default)]
pub(crate) struct RawServers(pub(crate) Vec<(Option<String>, RawServer)>);

impl<'de> Deserialize<'de> for RawServers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Servers;

        impl<'de> Visitor<'de> for Servers {
            type Value = RawServers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array or an object of servers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RawServers, A::Error> {
                let mut servers = Vec::new();
                while let Some(server) = seq.next_element()? {
                    servers.push((None, server));
                }
                Ok(RawServers(servers))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawServers, A::Error> {
                let mut servers = Vec::new();
                while let Some((name, server)) = map.next_entry()? {
                    servers.push((Some(name), server));
                }
                Ok(RawServers(servers))
            }
        }

        from.deserialize_any(Servers)
    }
}
