//! About requests that were refused before they were read.

event! {
    /// A request without a valid key.
    Unauthorised { header: &'static str }
    counts unauthorised, logs info "refused a request without a valid key"
}

event! {
    /// A client tried to change something with the clients' key.
    NotAdmin { header: &'static str }
    counts not_admin, logs warn "refused a change that was sent with the api_key; it needs the admin_key"
}

event! {
    /// A caller lacks the right that its request needs.
    NoRight {}
    counts no_right, logs info "refused a request of a caller without the right to it"
}

event! {
    /// A request with more than one credential.
    TwoCredentials {}
    counts two_credentials, logs info "refused a request with more than one credential"
}

event! {
    /// A token that is not accepted.
    TokenRefused { reason: &'static str }
    counts tokens_refused, logs info "refused a token"
}

event! {
    /// A token without the scopes that MCP needs.
    ScopeMissing {}
    counts scopes_missing, logs info "refused a token without the scopes that are needed"
}

event! {
    /// A request with a token in its address.
    TokenInQuery {}
    counts tokens_in_query, logs info "refused a request with a token in its address"
}

event! {
    /// A token whose issuer is out of reach.
    IssuerUnreachable {}
    counts issuer_unreachable, logs info "cannot check a token, because its issuer is out of reach"
}

event! {
    /// A request that another site's page may have sent.
    Foreign { header: &'static str }
    counts foreign, logs info "refused a request from a foreign host"
}

event! {
    /// A connection that had not shown the key was closed, because too many newer ones came.
    Evicted {}
    counts evicted, logs debug "closed a connection without a key to make room"
}

event! {
    /// A client that could not be spoken to over TLS.
    HandshakeFailed { reason: &'static str }
    counts handshake_failures, logs info "a TLS handshake failed"
}
