-- Format 1. Never edit a released file: add another.

CREATE TABLE meta(
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    version int NOT NULL,
    -- A program of an older format must not write.
    oldest_writer int NOT NULL,
    -- Added to every place, so that places grow although a restored cluster counts transactions from the beginning.
    seq_base bigint NOT NULL DEFAULT 0,
    -- drop_day refuses days younger than this, whatever a gateway's configuration says.
    retention_floor_days int NOT NULL DEFAULT 1,
    -- The roll-ups count every record up to this place.
    counted bigint NOT NULL DEFAULT 0
);
INSERT INTO meta(version, oldest_writer) VALUES (0, 1);

CREATE TABLE chain(
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chain_id text COLLATE "C" NOT NULL UNIQUE,
    -- The place of the chain's first record, if that record names heads.
    opened bigint
);

-- One row a record. `body` is what is hashed, byte by byte; the other columns are derived from it.
CREATE TABLE activity(
    day int NOT NULL,
    chain int NOT NULL,
    n bigint NOT NULL,
    seq bigint NOT NULL,
    id uuid NOT NULL,
    at bigint NOT NULL,
    kind smallint NOT NULL,
    status smallint NOT NULL,
    decision smallint,
    server text COLLATE "C",
    tool text COLLATE "C",
    client text COLLATE "C",
    request_id text COLLATE "C",
    parent uuid,
    hash bytea NOT NULL,
    body bytea NOT NULL
) PARTITION BY RANGE (day);

-- The rules (`r:…`) and stages (`s:…`) found in a record.
CREATE TABLE found(
    day int NOT NULL,
    term text COLLATE "C" NOT NULL,
    seq bigint NOT NULL
) PARTITION BY RANGE (day);

CREATE TABLE checkpoint(
    chain int NOT NULL, n bigint NOT NULL, hash bytea NOT NULL, at bigint NOT NULL, lost bigint NOT NULL,
    key text NOT NULL, signature text NOT NULL, PRIMARY KEY (chain, n, lost)
);
CREATE TABLE floor(
    chain int NOT NULL, n bigint NOT NULL, hash bytea NOT NULL, at bigint NOT NULL, lost bigint NOT NULL,
    key text NOT NULL, signature text NOT NULL, PRIMARY KEY (chain, n)
);
CREATE TABLE catalogue(
    server text COLLATE "C" NOT NULL, tool text COLLATE "C" NOT NULL, generation bigint NOT NULL,
    digest text COLLATE "C" NOT NULL, raw bytea NOT NULL, captured_at bigint NOT NULL,
    -- When a server last declared it: that one is listed.
    seen bigint NOT NULL,
    PRIMARY KEY (server, tool, generation), UNIQUE (server, tool, digest)
);
CREATE SEQUENCE catalogue_seen;

CREATE TABLE rollup(
    hour bigint NOT NULL, server text COLLATE "C", tool text COLLATE "C", kind smallint NOT NULL, status smallint NOT NULL,
    count bigint NOT NULL, validated bigint NOT NULL, rejected bigint NOT NULL, tokens bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (hour, server, tool, kind, status)
);
CREATE TABLE rollup_rule(
    hour bigint NOT NULL, rule text COLLATE "C" NOT NULL, count bigint NOT NULL, PRIMARY KEY (hour, rule)
);
CREATE TABLE recent(
    minute bigint NOT NULL, server text COLLATE "C" NOT NULL, validated bigint NOT NULL, rejected bigint NOT NULL,
    PRIMARY KEY (minute, server)
);
-- The places that the records of a minute occupy.
CREATE TABLE span(minute bigint PRIMARY KEY, low bigint NOT NULL, high bigint NOT NULL);
-- The places that the records of a partition occupy.
CREATE TABLE day_span(day int PRIMARY KEY, low bigint NOT NULL, high bigint NOT NULL);

-- Makes the partitions of a day unless they are there. ATTACH lets inserts into other days pass.
CREATE FUNCTION make_day(wanted int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
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
    EXECUTE format('ALTER TABLE activity ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', name, wanted, wanted + 1);
    EXECUTE format('CREATE TABLE %I (LIKE found, PRIMARY KEY (term, seq), CHECK (day = %s))', terms, wanted);
    EXECUTE format('ALTER TABLE found ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', terms, wanted, wanted + 1);
END $$;

-- Removes a day that is old enough and for which every chain in it has a signed floor.
CREATE FUNCTION drop_day(unwanted int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = countersign, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    suffix text := to_char(date '1970-01-01' + unwanted, 'YYYYMMDD');
    youngest int := (extract(epoch FROM now()) / 86400)::int - greatest(1, (SELECT retention_floor_days FROM meta));
    missing int;
BEGIN
    IF unwanted >= youngest THEN
        RAISE EXCEPTION 'day % is younger than the retention floor', unwanted USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF EXISTS (SELECT FROM activity WHERE day < unwanted) THEN
        RAISE EXCEPTION 'an older day is still there' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT count(*) INTO missing FROM (SELECT chain, max(n) AS last FROM activity WHERE day = unwanted GROUP BY chain) a
        WHERE NOT EXISTS (SELECT FROM floor f WHERE f.chain = a.chain AND f.n >= a.last);
    IF missing > 0 THEN
        RAISE EXCEPTION '% chains have no floor', missing USING ERRCODE = 'invalid_parameter_value';
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS %I, %I', 'activity_' || suffix, 'found_' || suffix);
    DELETE FROM day_span WHERE day = unwanted;
    DELETE FROM checkpoint c USING floor f WHERE c.chain = f.chain AND c.n <= f.n;
END $$;

REVOKE ALL ON FUNCTION make_day(int), drop_day(int) FROM PUBLIC;
