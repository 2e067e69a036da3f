-- Format 4: revoked keys, and an index of callers. Never edit a released file: add another.

-- A key by its SHA-256, and whose it was.
CREATE TABLE revocation(key bytea PRIMARY KEY, caller text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());

-- The caller of a record as its body has it, JSON up to the first quotation mark; empty if it has none. The names before it
-- have at most 256 bytes each, so that it is near the beginning. A record without a caller may have such a member in a
-- payload: the record has the last word. An index over a function, and not a column, because programs of an older format
-- write records, too.
CREATE FUNCTION caller_of(body bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT split_part(split_part(encode(substring(body for 8192), 'escape'), ',"caller":"', 2), '"', 1)
$$;

-- Makes the partitions of a day unless they are there. ATTACH lets inserts into other days pass.
CREATE OR REPLACE FUNCTION make_day(wanted int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = countersign, pg_temp AS $$
DECLARE
    suffix text := to_char(date '1970-01-01' + wanted, 'YYYYMMDD');
    name text := 'activity_' || suffix;
    terms text := 'found_' || suffix;
BEGIN
    IF EXISTS (SELECT FROM pg_class WHERE relname = terms AND relnamespace = 'countersign'::regnamespace) THEN
        RETURN;
    END IF;
    IF wanted > (extract(epoch FROM now()) / 86400)::int + 60 THEN
        RAISE EXCEPTION 'day % is too far ahead', wanted USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_advisory_xact_lock(4842107250913201);
    -- Another session may have made it meanwhile. (to_regclass would answer from a cache.)
    IF EXISTS (SELECT FROM pg_class WHERE relname = terms AND relnamespace = 'countersign'::regnamespace) THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE activity, PRIMARY KEY (chain, n), CHECK (day = %s))', name, wanted);
    EXECUTE format('CREATE INDEX ON %I (seq)', name);
    EXECUTE format('CREATE INDEX ON %I (id)', name);
    EXECUTE format('CREATE INDEX ON %I (server, seq)', name);
    EXECUTE format('CREATE INDEX ON %I (tool, seq)', name);
    EXECUTE format('CREATE INDEX ON %I (server, tool, seq)', name);
    EXECUTE format('CREATE INDEX ON %I (request_id, seq) WHERE request_id IS NOT NULL', name);
    EXECUTE format('CREATE INDEX ON %I (parent, seq) WHERE parent IS NOT NULL', name);
    EXECUTE format('CREATE INDEX ON %I (kind, seq) WHERE kind <> 0', name);
    EXECUTE format('CREATE INDEX ON %I (status, seq) WHERE status <> 0', name);
    EXECUTE format('CREATE INDEX ON %I (decision, seq) WHERE decision IS NOT NULL', name);
    -- Days that were made before are given this one while the gateways run.
    EXECUTE format('CREATE INDEX %I ON %I ((caller_of(body) COLLATE "C"), seq) WHERE caller_of(body) <> %L',
        name || '_caller', name, '');
    EXECUTE format('ALTER TABLE activity ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', name, wanted, wanted + 1);
    EXECUTE format('CREATE TABLE %I (LIKE found, PRIMARY KEY (term, seq), CHECK (day = %s))', terms, wanted);
    EXECUTE format('ALTER TABLE found ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', terms, wanted, wanted + 1);
END $$;
