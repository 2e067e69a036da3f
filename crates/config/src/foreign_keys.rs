//! Keys of mcpproxy and of desktop clients that are known here and not implemented. One warning lists them; where ignoring
//! one lets more happen than its author meant, it has a warning of its own.

/// Keys of other programs in one block.
#[derive(Debug)]
pub(crate) struct ForeignKeys {
    /// Each with what ignoring it means.
    telling: &'static [(&'static str, &'static str)],
    /// Those that are only missed as a comfort, between spaces.
    silent: &'static str,
}

impl ForeignKeys {
    pub(crate) const NONE: &Self = &Self {
        telling: &[],
        silent: "",
    };

    /// Each key, with what ignoring it means; that is empty where it is only missed as a comfort.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let silent = self.silent.split_whitespace().map(|key| (key, ""));
        self.telling.iter().copied().chain(silent)
    }
}

/// At the top of the file. The last three are of desktop clients, which keep other things in the file that holds their
/// servers.
pub(crate) static ROOT: ForeignKeys = ForeignKeys {
    telling: &[
        ("activity_max_records", "use activity.max_records"),
        (
            "activity_max_response_size",
            "use activity.payload_max_bytes",
        ),
        ("activity_max_size_mb", "use activity.max_size_mb"),
        ("activity_retention_days", "use activity.retention_days"),
        (
            "disable_management",
            "the API stays available to every client that has the key",
        ),
        ("docker_isolation", "servers run without a container"),
        (
            "environment",
            "children get a fixed short list of variables and their own `env`",
        ),
        ("max_concurrent_requests", "it can be set for each server"),
        ("profiles", "every client sees every server"),
        (
            "quarantine_enabled",
            "new servers and changed tools are not held back",
        ),
        ("queue_size", "it can be set for each server"),
        ("read_only_mode", "the API can change the configuration"),
        ("security", "servers are not scanned"),
        (
            "sensitive_data_detection",
            "results are not searched for sensitive data",
        ),
        (
            "server_concurrency_defaults",
            "it can be set for each server",
        ),
        ("tool_response_limit", "results are not cut"),
        (
            "trusted_proxies",
            "the gateway believes no forwarded headers",
        ),
    ],
    silent: "\
        activity_cleanup_interval_min aggregate_upstream_prompts allow_private_registry_fetch allow_server_add \
        allow_server_remove audit_log check_server_repo code_execution_max_parallel code_execution_max_tool_calls \
        code_execution_pool_size code_execution_timeout_ms debug_search direct_tool_response_mode docker_recovery \
        enable_code_execution enable_prompts enable_socket enable_tray features forward_proxy_env \
        health_check_interval http_idle_timeout http_read_timeout http_write_timeout init_timeout instructions \
        intent_declaration logging max_result_size_chars oauth_expiry_warning_hours observability queue_timeout \
        registries registries_locked reveal_secret_headers server_edition teams telemetry tokenizer \
        tool_call_max_records_per_server tool_call_max_response_size tool_discovery_interval tool_response_mode \
        tool_response_session_risk_warning tools_limit toon_min_savings_pct toon_output top_k tray_endpoint \
        update_check globalShortcut inputs preferences",
};

/// Under `tls`.
pub(crate) static TLS: ForeignKeys = ForeignKeys {
    telling: &[
        (
            "enabled",
            "TLS is on where tls.cert_file and tls.key_file are set",
        ),
        ("require_client_cert", "use tls.client_auth"),
        ("certs_dir", "use tls.cert_file and tls.key_file"),
    ],
    silent: "hsts",
};

/// Under a server.
pub(crate) static SERVER: ForeignKeys = ForeignKeys {
    telling: &[
        (
            "annotation_overrides",
            "tools keep the annotations their server gives them",
        ),
        ("disabled_tools", "the tools it hides are visible"),
        ("enabled_tools", "tools it does not list are visible"),
        ("isolation", "it runs without a container"),
        ("trust_mode", "changed tools are not held back"),
    ],
    silent: "\
        alwaysAllow auth_broker autoApprove auto_approve_tool_changes created description expose_prompts \
        health_check_interval init_timeout launcher_wait_timeout queue_timeout reconnect_on_use shared \
        skip_quarantine source_registry_id source_registry_provenance tool_discovery_interval toon_output updated",
};

/// Under `oauth` of a server.
pub(crate) static OAUTH: ForeignKeys = ForeignKeys {
    telling: &[
        ("extra_params", "nothing is added to requests for tokens"),
        (
            "redirect_uri",
            "`countersign auth login` listens on an address of its own; `--port` fixes the port",
        ),
    ],
    silent: "pkce_enabled",
};
