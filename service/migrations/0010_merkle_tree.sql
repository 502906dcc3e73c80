-- The Merkle tree over the log, and its signed heads: out of the service's reach, which
-- may have the tree grow over what the log says, keep a checkpoint, and nothing else.

-- Only full subtrees are stored; they don't change while the epoch lasts.
CREATE TABLE events.merkle_node (
    level  smallint NOT NULL,
    number bigint   NOT NULL,
    hash   bytea    NOT NULL,
    PRIMARY KEY (level, number)
);
COMMENT ON TABLE events.merkle_node IS
    'A node stands over the positions from (number << level) + 1 to (number + 1) << level.';

CREATE TABLE events.merkle_tree (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    epoch    uuid    NOT NULL,
    size     bigint  NOT NULL
);
INSERT INTO events.merkle_tree (epoch, size) SELECT epoch, 0 FROM events.head;
GRANT SELECT ON events.merkle_node, events.merkle_tree
   TO agent_runtime_service, agent_runtime_reader;

-- The encoding of projections/audit/proofs/leaf.py.
CREATE FUNCTION events.leaf_hash(e events.stored_event) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT sha256('\x0001'::bytea
        || int8send(e.notification_id) || uuid_send(e.originator_id)
        || int8send(e.originator_version)
        || int8send((extract(epoch FROM e.recorded_at) * 1000000)::bigint)
        || uuid_send(e.command_id)
        || int8send(length(convert_to(e.topic, 'UTF8'))) || convert_to(e.topic, 'UTF8')
        || int8send(length(convert_to(e.metadata::text, 'UTF8')))
        || convert_to(e.metadata::text, 'UTF8')
        || int8send(length(e.state)) || e.state)
$$;

-- Grow the tree over the log up to a position; return its size. In a new epoch the
-- log's earlier positions may mean other events, so the tree starts over.
CREATE FUNCTION events.grow_tree(upto bigint) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tree     record;
    log      record;
    goal     bigint;
    appended bigint;
    upper    int := 1;
BEGIN
    SELECT t.epoch, t.size INTO tree FROM events.merkle_tree t FOR UPDATE;
    SELECT h.epoch, h.position INTO log FROM events.head h;
    IF tree.epoch <> log.epoch THEN
        TRUNCATE events.merkle_node;
        tree.size := 0;
    END IF;
    goal := greatest(least(upto, log.position), tree.size);

    INSERT INTO events.merkle_node (level, number, hash)
    SELECT 0, e.notification_id - 1, events.leaf_hash(e)
      FROM events.stored_event e
     WHERE e.notification_id > tree.size AND e.notification_id <= goal;
    GET DIAGNOSTICS appended = ROW_COUNT;
    IF appended <> goal - tree.size THEN
        -- A tree over the rest would hide it.
        RAISE EXCEPTION 'the log has no position %', (
            SELECT min(p) FROM generate_series(tree.size + 1, goal) AS p
             WHERE NOT EXISTS (
                   SELECT FROM events.stored_event e WHERE e.notification_id = p));
    END IF;
    WHILE (goal >> upper) > 0 LOOP
        INSERT INTO events.merkle_node (level, number, hash)
        SELECT upper, n, sha256('\x01'::bytea || l.hash || r.hash)
          FROM generate_series(tree.size >> upper, (goal >> upper) - 1) AS n
          JOIN events.merkle_node l ON l.level = upper - 1 AND l.number = 2 * n
          JOIN events.merkle_node r ON r.level = upper - 1 AND r.number = 2 * n + 1;
        upper := upper + 1;
    END LOOP;
    UPDATE events.merkle_tree SET epoch = log.epoch, size = goal
     WHERE epoch <> log.epoch OR size <> goal;
    RETURN goal;
END $$;
REVOKE EXECUTE ON FUNCTION events.grow_tree FROM public;
GRANT EXECUTE ON FUNCTION events.grow_tree TO agent_runtime_service;

-- Where the log and the tree contradict each other, or the tree itself: positions
-- after < p <= upto, which the tree must have reached.
CREATE FUNCTION events.contradictions(
    after bigint, upto bigint,
    OUT what text, OUT first_position bigint, OUT last_position bigint
) RETURNS SETOF record LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN e.notification_id IS NULL THEN 'missing' ELSE 'changed' END, p, p
      FROM generate_series(after + 1, upto) AS p
      LEFT JOIN events.stored_event e ON e.notification_id = p
      LEFT JOIN events.merkle_node leaf ON leaf.level = 0 AND leaf.number = p - 1
     WHERE e.notification_id IS NULL OR leaf.hash IS DISTINCT FROM events.leaf_hash(e)
     UNION ALL
    SELECT 'tree', (n << upper) + 1, (n + 1) << upper
      FROM generate_series(1, 62) AS upper
     CROSS JOIN generate_series(after >> upper, (upto >> upper) - 1) AS n
      LEFT JOIN events.merkle_node node ON node.level = upper AND node.number = n
      LEFT JOIN events.merkle_node l ON l.level = upper - 1 AND l.number = 2 * n
      LEFT JOIN events.merkle_node r ON r.level = upper - 1 AND r.number = 2 * n + 1
     WHERE node.hash IS DISTINCT FROM sha256('\x01'::bytea || l.hash || r.hash)
$$;

-- How far the log was compared with the tree, again and again.
CREATE TABLE read.log_check (
    only_row      boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    epoch         uuid,
    position      bigint NOT NULL DEFAULT 0,
    is_clean      boolean NOT NULL DEFAULT true,
    completed_at  timestamptz,
    contradiction text
);
INSERT INTO read.log_check DEFAULT VALUES;
COMMENT ON COLUMN read.log_check.position IS 'The last one compared in this pass.';
COMMENT ON COLUMN read.log_check.is_clean IS 'Nothing was found in this pass so far.';
COMMENT ON COLUMN read.log_check.completed_at IS 'When the last pass without a finding ended.';
COMMENT ON COLUMN read.log_check.contradiction IS 'What was found, until a pass finds nothing.';
GRANT SELECT, UPDATE ON read.log_check TO agent_runtime_service;
GRANT SELECT ON read.log_check TO agent_runtime_reader;

-- Kept by a function, so that the service can't delete or replace one. All of the last
-- hour stay, then the last of each hour.
REVOKE INSERT, DELETE ON events.checkpoint FROM agent_runtime_service;
CREATE FUNCTION events.keep_checkpoint(size bigint, note text, public_key text)
RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO events.checkpoint AS c (epoch, size, note, public_key)
    SELECT h.epoch, keep_checkpoint.size, keep_checkpoint.note, keep_checkpoint.public_key
      FROM events.head h
     WHERE h.position >= keep_checkpoint.size
    ON CONFLICT DO NOTHING;
    DELETE FROM events.checkpoint c
     WHERE c.signed_at < now() - interval '1 hour'
       AND EXISTS (SELECT FROM events.checkpoint later
                    WHERE later.epoch = c.epoch AND later.size > c.size
                      AND later.public_key = c.public_key
                      AND date_trunc('hour', later.signed_at)
                          = date_trunc('hour', c.signed_at));
END $$;
REVOKE EXECUTE ON FUNCTION events.keep_checkpoint FROM public;
GRANT EXECUTE ON FUNCTION events.keep_checkpoint TO agent_runtime_service;

-- Until now the tree was a read table, which the service could change.
DROP TABLE IF EXISTS read.merkle_hash;
DELETE FROM read.position WHERE follower = 'merkle_tree';
