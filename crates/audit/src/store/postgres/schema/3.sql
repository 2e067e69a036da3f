-- Format 3: tokens for servers, sealed. Never edit a released file: add another.

CREATE TABLE server_grant(
    server text NOT NULL, caller text NOT NULL, issuer text NOT NULL, generation bigint NOT NULL, sealed bytea NOT NULL,
    holder text NOT NULL DEFAULT '', leased_until timestamptz NOT NULL DEFAULT '-infinity', PRIMARY KEY (server, caller)
);
