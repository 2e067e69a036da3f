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
    /// A request that another site's page may have sent.
    Foreign { header: &'static str }
    counts foreign, logs warn "refused a request from a foreign host"
}

event! {
    /// A connection that had not shown the key was closed, because too many newer ones came.
    Evicted {}
    counts evicted, logs debug "closed a connection without a key to make room"
}
