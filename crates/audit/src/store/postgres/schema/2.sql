-- Format 2: the tree of signed batches. Never edit a released file: add another.

-- Batches that the maintainer has not taken into the tree yet.
CREATE TABLE tree_queue(
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, chain int NOT NULL, body text NOT NULL
);
-- The name of the log in its heads, unless the configuration gives another.
CREATE TABLE tree(singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton), origin text NOT NULL);
INSERT INTO tree(origin) VALUES ('countersign/activity/' || replace(gen_random_uuid()::text, '-', ''));
-- `n` is the number of the last record that the batch signs for.
CREATE TABLE leaf(
    idx bigint PRIMARY KEY, chain int NOT NULL, n bigint NOT NULL, hash bytea NOT NULL, body text NOT NULL, UNIQUE (chain, n)
);
-- Complete tiles of 256 hashes. `root` is the root over them, and an entry of a tile of the level above.
CREATE TABLE tile(
    level bigint NOT NULL, idx bigint NOT NULL, hashes bytea NOT NULL, root bytea NOT NULL, PRIMARY KEY (level, idx)
);
CREATE TABLE tree_head(size bigint PRIMARY KEY, note text NOT NULL);

-- Removes a day that is old enough and for which every chain in it has a signed floor.
CREATE OR REPLACE FUNCTION drop_day(unwanted int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
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
    -- Their hashes stay in complete tiles. The newest leaves stay, because the tree grows on from them.
    DELETE FROM leaf l USING floor f WHERE l.chain = f.chain AND l.n <= f.n
        AND l.idx < (SELECT (max(idx) + 1) / 256 * 256 - 256 FROM leaf);
END $$;
