-- Format 5: indexes of records that are not a success, by server and tool. Never edit a released file: add another.

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
    -- Days that were made before are given the following ones while the gateways run.
    EXECUTE format('CREATE INDEX %I ON %I ((caller_of(body) COLLATE "C"), seq) WHERE caller_of(body) <> %L',
        name || '_caller', name, '');
    EXECUTE format('CREATE INDEX %I ON %I (status, server, seq) WHERE status <> 0', name || '_status_server', name);
    EXECUTE format('CREATE INDEX %I ON %I (status, tool, seq) WHERE status <> 0', name || '_status_tool', name);
    EXECUTE format('CREATE INDEX %I ON %I (status, server, tool, seq) WHERE status <> 0', name || '_status_server_tool', name);
    EXECUTE format('ALTER TABLE activity ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', name, wanted, wanted + 1);
    EXECUTE format('CREATE TABLE %I (LIKE found, PRIMARY KEY (term, seq), CHECK (day = %s))', terms, wanted);
    EXECUTE format('ALTER TABLE found ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', terms, wanted, wanted + 1);
END $$;
