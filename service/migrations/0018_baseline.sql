-- Schema "events", which can't be rebuilt from anything, and those tables of "read" that
-- aren't built from events. In this order: roles and rights; the log, its snapshots,
-- receipts and sealed values; the function that appends; keys; positions of followers;
-- epochs; the Merkle tree and its checkpoints; reported traces.

-- The service acts as agent_runtime_service, which can add events and nothing
-- else to them; auditors act as agent_runtime_reader. Roles belong to the whole
-- server, so another database may have made them already.
DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['agent_runtime_service', 'agent_runtime_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;  -- another migration of the same server was faster
            END;
        END IF;
    END LOOP;
END $$;

DO $$
BEGIN
    -- Whoever creates a role may administer it, which is not yet to act as it.
    BEGIN
        EXECUTE format('GRANT agent_runtime_service TO %I', current_user);
    EXCEPTION
        WHEN unique_violation OR internal_error THEN
            NULL;  -- "tuple concurrently updated": as above
        WHEN insufficient_privilege OR invalid_grant_operation THEN
            NULL;  -- then an administrator must have granted it: tried below
    END;
    SET LOCAL ROLE agent_runtime_service;
    RESET ROLE;
END $$;

CREATE SCHEMA events;
CREATE SCHEMA read;
GRANT USAGE ON SCHEMA events, read TO agent_runtime_service, agent_runtime_reader;
GRANT CREATE ON SCHEMA read TO agent_runtime_service;
DO $$
BEGIN
    -- A rebuild fills a schema of its own beside "read".
    EXECUTE format('GRANT CREATE ON DATABASE %I TO agent_runtime_service', current_database());
END $$;
-- Not only in schema "read": a rebuilt table was made in another one.
ALTER DEFAULT PRIVILEGES FOR ROLE agent_runtime_service
    GRANT SELECT ON TABLES TO agent_runtime_reader;

-- One row: the end of the log. Every append locks it, so positions are dense
-- and in the order of the commits.
CREATE TABLE events.head (
    only_row    boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    epoch       uuid        NOT NULL DEFAULT gen_random_uuid(),
    position    bigint      NOT NULL DEFAULT 0,
    recorded_at timestamptz NOT NULL DEFAULT '-infinity',
    log_id      uuid        NOT NULL DEFAULT gen_random_uuid(),
    server      text
) WITH (fillfactor = 10);
COMMENT ON COLUMN events.head.epoch IS
    'New after a restore or fail-over that may use positions again.';
-- For those who keep what they have read. Unlike the epoch it stays through a restore;
-- a copy that lives on beside its original needs another.
COMMENT ON COLUMN events.head.log_id IS 'The same for the log''s whole life.';
COMMENT ON COLUMN events.head.server IS
    'System identifier and timeline of the server that this epoch is known to continue on.';
INSERT INTO events.head DEFAULT VALUES;

-- The first five columns are those of the library eventsourcing.
CREATE TABLE events.stored_event (
    originator_id      uuid        NOT NULL,
    originator_version bigint      NOT NULL,
    topic              text        NOT NULL,
    state              bytea       NOT NULL,
    notification_id    bigint      NOT NULL,
    recorded_at        timestamptz NOT NULL,
    command_id         uuid        NOT NULL,
    metadata           json        NOT NULL,
    PRIMARY KEY (originator_id, originator_version)
);
CREATE UNIQUE INDEX stored_event_position ON events.stored_event (notification_id);
-- The audit trail shows present names beside ids: this finds the event that gave a
-- user, agent or connector its name, however many events came later.
CREATE INDEX stored_event_naming
    ON events.stored_event (originator_id, originator_version)
 WHERE topic IN ('user.created', 'user.renamed', 'user.erased',
                 'agent.registered', 'agent.edited',
                 'connector.registered', 'connector.edited');
COMMENT ON COLUMN events.stored_event.notification_id IS 'Position in the log: 1, 2, 3, ... without gaps.';
COMMENT ON COLUMN events.stored_event.recorded_at IS 'Set under the lock; the events of one command share it, the next command has a later one.';
COMMENT ON COLUMN events.stored_event.metadata IS 'Who, by which token, in which request, from where.';

CREATE FUNCTION events.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are append-only';
END $$;
CREATE TRIGGER append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON events.stored_event
    FOR EACH STATEMENT EXECUTE FUNCTION events.refuse_change();

-- A shortcut for long aggregates; can be deleted at any time.
CREATE TABLE events.snapshot (
    originator_id      uuid   PRIMARY KEY,
    originator_version bigint NOT NULL,
    class_version      int    NOT NULL,
    topic              text   NOT NULL,
    state              bytea  NOT NULL,
    command_id         uuid   NOT NULL
);
COMMENT ON COLUMN events.snapshot.topic IS 'That of the aggregate.';
-- Somebody may cut the log: then positions and versions are used again in the same epoch.
COMMENT ON COLUMN events.snapshot.command_id IS
    'Of the event that made this version; without that event the snapshot isn''t read.';

-- Answers kept for Idempotency-Key, in the transaction of the events. They are kept in
-- two tables, which change places once a day, when all receipts in the older one have
-- expired, so that a day's receipts are deleted at once. A key is looked up in both,
-- behind the lock of the log's end, so it is unique across a change, too. A receipt counts
-- for 24 hours, whether it has been deleted or not.
CREATE TABLE events.receipt (
    key         bytea       PRIMARY KEY,
    request     bytea       NOT NULL,
    answer      bytea       NOT NULL,
    position    bigint,
    recorded_at timestamptz NOT NULL
);
CREATE TABLE events.receipt_previous (LIKE events.receipt INCLUDING ALL);

CREATE TABLE events.receipt_rotation (
    only_row   boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    rotated_at timestamptz NOT NULL
);
COMMENT ON COLUMN events.receipt_rotation.rotated_at IS
    'Everything in receipt_previous was recorded before, everything in receipt since then.';
INSERT INTO events.receipt_rotation (rotated_at) VALUES (clock_timestamp());

-- The receipts that count, by the log's time, which doesn't go back.
CREATE VIEW events.valid_receipt AS
SELECT r.key, r.request, r.answer, r.position, r.recorded_at
  FROM (SELECT * FROM events.receipt
         UNION ALL
        SELECT * FROM events.receipt_previous) AS r
 WHERE r.recorded_at > (SELECT greatest(statement_timestamp(), h.recorded_at)
                          FROM events.head h) - interval '24 hours';

-- Secret values. Their events name them; no event holds one.
CREATE TABLE events.sealed_value (
    sealed_id  uuid        PRIMARY KEY,
    owner_id   uuid        NOT NULL,
    sealed     bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sealed_value_owner_id ON events.sealed_value (owner_id);

-- Events, the head and receipts are written by events.append alone.
GRANT SELECT ON events.stored_event, events.head TO agent_runtime_service, agent_runtime_reader;
GRANT SELECT, DELETE ON events.receipt TO agent_runtime_service;
GRANT SELECT ON events.receipt_previous, events.valid_receipt TO agent_runtime_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON events.snapshot TO agent_runtime_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON events.sealed_value TO agent_runtime_service;
REVOKE ALL ON events.sealed_value FROM agent_runtime_reader;

-- Append the commands of one batch. Arrays that begin with the same word run in
-- parallel; *_command says to which command (1, 2, ...) an element belongs, and
-- reader_read which aggregate (1, 2, ...) of the read_* arrays a command has read.
-- A command is refused when an aggregate that it read has moved, or when its
-- idempotency key has been used; its neighbours are not affected. One that rests on
-- another before it in the batch has read what that one writes: this isn't looked up,
-- and both are refused together, whatever the reason. All are refused
-- when the log is of another epoch than they were decided in: log_epoch tells.
-- A command's recorded_at is batch_recorded_at plus a microsecond for each command
-- before it in the batch.
CREATE FUNCTION events.append(
    expected_epoch   uuid,
    read_id          uuid[], read_version bigint[],
    reader_command   int[], reader_read int[],
    event_command    int[], event_id uuid[], event_version bigint[],
    event_topic      text[], event_state bytea[],
    command_ids      uuid[], command_metadata text[],
    receipt_command  int[], receipt_key bytea[], receipt_request bytea[], receipt_answer bytea[],
    sealed_command   int[], sealed_ids uuid[], sealed_owner uuid[], sealed_bytes bytea[],
    resting_command  int[], rests_on int[],
    OUT log_epoch          uuid,
    OUT base_position      bigint,
    OUT batch_recorded_at  timestamptz,
    OUT conflicted         int[],
    OUT replayed           int[],
    OUT replayed_requests  bytea[],
    OUT replayed_answers   bytea[],
    OUT replayed_positions bigint[]
) LANGUAGE plpgsql
-- With the rights of the schema's owner, so that a role that may append can't write
-- the log in any other way.
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
-- For an empty table a sequential scan would be planned, and kept while it grows.
SET enable_seqscan = off
AS $$
DECLARE
    microsecond CONSTANT interval := interval '1 microsecond';
    retention   CONSTANT interval := interval '24 hours';
    lasts       CONSTANT interval := cardinality(command_ids) * microsecond;
    events      CONSTANT bigint   := cardinality(event_id);
    refused     int[] := '{}';
    expired     bytea[];
    standing    bigint;
    appended    bigint;
BEGIN
    -- This locks the log, and nearly always it is right: every command passes.
    UPDATE events.head h
       SET position = h.position + events,
           recorded_at = greatest(clock_timestamp(), h.recorded_at + microsecond) + lasts
     WHERE h.epoch = expected_epoch
    RETURNING h.epoch, h.position - events, h.recorded_at - lasts
         INTO log_epoch, base_position, batch_recorded_at;
    IF NOT FOUND THEN
        SELECT h.epoch, h.position, h.recorded_at
          INTO log_epoch, base_position, batch_recorded_at
          FROM events.head h;
        RETURN;
    END IF;

    -- LATERAL or a scalar subquery, with LIMIT 1, keeps these an index probe for each
    -- key and aggregate, whatever the statistics say.
    IF cardinality(receipt_key) > 0 THEN
        SELECT array_agg(given.command) FILTER (WHERE kept.counts),
               array_agg(kept.request) FILTER (WHERE kept.counts),
               array_agg(kept.answer) FILTER (WHERE kept.counts),
               array_agg(kept.position) FILTER (WHERE kept.counts),
               array_agg(given.key) FILTER (WHERE NOT kept.counts)
          INTO replayed, replayed_requests, replayed_answers, replayed_positions, expired
          FROM unnest(receipt_command, receipt_key) AS given (command, key)
         CROSS JOIN LATERAL (
               SELECT r.request, r.answer, r.position,
                      r.recorded_at > batch_recorded_at - retention AS counts
                 FROM events.receipt r
                WHERE r.key = given.key
                UNION ALL
               SELECT r.request, r.answer, r.position, true
                 FROM events.receipt_previous r
                WHERE r.key = given.key AND r.recorded_at > batch_recorded_at - retention
                LIMIT 1) AS kept;
        refused := coalesce(replayed, refused);
        IF expired IS NOT NULL THEN
            DELETE FROM events.receipt r WHERE r.key = ANY (expired);
        END IF;
    END IF;

    SELECT count(*)
      INTO standing
      FROM unnest(read_id, read_version) AS given (id, version)
     WHERE given.version = coalesce((
           SELECT e.originator_version
             FROM events.stored_event e
            WHERE e.originator_id = given.id
            ORDER BY e.originator_version DESC
            LIMIT 1), 0);
    IF standing < cardinality(read_id) THEN
        -- Every command that read one of those that have moved.
        SELECT array_agg(DISTINCT reader.command)
          INTO conflicted
          FROM unnest(read_id, read_version) WITH ORDINALITY AS given (id, version, number)
          JOIN unnest(reader_command, reader_read) AS reader (command, number)
               ON reader.number = given.number
         WHERE given.version <> coalesce((
               SELECT e.originator_version
                 FROM events.stored_event e
                WHERE e.originator_id = given.id
                ORDER BY e.originator_version DESC
                LIMIT 1), 0)
           AND reader.command <> ALL (refused);
        refused := refused || coalesce(conflicted, '{}');
    END IF;

    IF cardinality(refused) > 0 THEN
        -- In the order of the commands, so that one pass finds them all.
        FOR number IN 1 .. coalesce(cardinality(resting_command), 0) LOOP
            IF rests_on[number] = ANY (refused)
               AND resting_command[number] <> ALL (refused)
            THEN
                conflicted := array_append(conflicted, resting_command[number]);
                refused := array_append(refused, resting_command[number]);
            END IF;
        END LOOP;
    END IF;

    IF cardinality(refused) = 0 THEN
        INSERT INTO events.stored_event (
               originator_id, originator_version, topic, state,
               notification_id, recorded_at, command_id, metadata)
        SELECT given.id, given.version, given.topic, given.state,
               base_position + given.place,
               batch_recorded_at + (given.command - 1) * microsecond,
               command_ids[given.command], command_metadata[given.command]::json
          FROM unnest(event_command, event_id, event_version, event_topic, event_state)
               WITH ORDINALITY AS given (command, id, version, topic, state, place);
    ELSE
        INSERT INTO events.stored_event (
               originator_id, originator_version, topic, state,
               notification_id, recorded_at, command_id, metadata)
        SELECT given.id, given.version, given.topic, given.state,
               base_position + row_number() OVER (ORDER BY given.place),
               batch_recorded_at + (given.command - 1) * microsecond,
               command_ids[given.command], command_metadata[given.command]::json
          FROM unnest(event_command, event_id, event_version, event_topic, event_state)
               WITH ORDINALITY AS given (command, id, version, topic, state, place)
         WHERE given.command <> ALL (refused);
        GET DIAGNOSTICS appended = ROW_COUNT;
        UPDATE events.head SET position = base_position + appended;
    END IF;

    IF cardinality(sealed_ids) > 0 THEN
        INSERT INTO events.sealed_value (sealed_id, owner_id, sealed)
        SELECT given.id, given.owner, given.sealed
          FROM unnest(sealed_command, sealed_ids, sealed_owner, sealed_bytes)
               AS given (command, id, owner, sealed)
         WHERE given.command <> ALL (refused);
    END IF;

    IF cardinality(receipt_key) > 0 THEN
        INSERT INTO events.receipt (key, request, answer, position, recorded_at)
        SELECT given.key, given.request, given.answer, base_position + last.place,
               batch_recorded_at + (given.command - 1) * microsecond
          FROM unnest(receipt_command, receipt_key, receipt_request, receipt_answer)
               AS given (command, key, request, answer)
          LEFT JOIN (
               SELECT counted.command, max(counted.place) AS place
                 FROM (SELECT each.command, row_number() OVER (ORDER BY each.place) AS place
                         FROM unnest(event_command) WITH ORDINALITY AS each (command, place)
                        WHERE each.command <> ALL (refused)) AS counted
                GROUP BY counted.command) AS last ON last.command = given.command
         WHERE given.command <> ALL (refused);
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION events.append FROM public;
GRANT EXECUTE ON FUNCTION events.append TO agent_runtime_service;

-- Empty the table of the previous receipts and let both change places, if a day has
-- passed; return whether it has. Gives up soon where a table is being read, since appends
-- would wait behind.
CREATE FUNCTION events.rotate_receipts() RETURNS boolean LANGUAGE plpgsql
-- With the rights of the schema's owner: the service may not empty or rename tables.
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '100ms'
AS $$
DECLARE
    is_due CONSTANT text := $due$
        SELECT greatest(clock_timestamp(), h.recorded_at)
               >= r.rotated_at + interval '24 hours'
          FROM events.receipt_rotation r, events.head h $due$;
    due boolean;
BEGIN
    EXECUTE is_due INTO due;
    IF NOT due THEN
        RETURN false;
    END IF;
    LOCK TABLE events.receipt, events.receipt_previous IN ACCESS EXCLUSIVE MODE;
    -- Another process may have done it meanwhile.
    EXECUTE is_due INTO due;
    IF NOT due THEN
        RETURN false;
    END IF;
    TRUNCATE events.receipt_previous;
    ALTER TABLE events.receipt_previous RENAME TO receipt_next;
    ALTER TABLE events.receipt RENAME TO receipt_previous;
    ALTER TABLE events.receipt_next RENAME TO receipt;
    UPDATE events.receipt_rotation r
       SET rotated_at = greatest(clock_timestamp(), h.recorded_at)
      FROM events.head h;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION events.rotate_receipts() FROM public;
GRANT EXECUTE ON FUNCTION events.rotate_receipts() TO agent_runtime_service;

-- The last position recorded at or before a moment; 0 when there is none.
-- recorded_at ascends with the position, so this is a binary search.
CREATE FUNCTION events.position_at(moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    low    bigint := 0;
    high   bigint := (SELECT position FROM events.head);
    middle bigint;
BEGIN
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        IF (SELECT e.recorded_at FROM events.stored_event e
             WHERE e.notification_id = middle) <= moment THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END $$;
GRANT EXECUTE ON FUNCTION events.position_at TO agent_runtime_service, agent_runtime_reader;

-- The root keys in use. A user key can't be wrapped under one that is not here, and
-- a root key can't leave while a user key needs it.
CREATE TABLE events.root_key_canary (
    root_key_id text        PRIMARY KEY,
    sealed      bytea       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN events.root_key_canary.sealed IS
    'Wrapped under the root key; a process that can''t open it doesn''t start.';

-- One key for each user. Destroyed: no wrapped key, and never another one.
CREATE TABLE events.user_key (
    user_id      uuid        PRIMARY KEY,
    key_id       uuid        NOT NULL UNIQUE,
    wrapped      bytea,
    root_key_id  text        REFERENCES events.root_key_canary,
    created_at   timestamptz NOT NULL DEFAULT now(),
    destroyed_at timestamptz,
    CONSTRAINT wrapped_or_destroyed CHECK (
        (wrapped IS NULL) = (destroyed_at IS NOT NULL)
        AND (root_key_id IS NULL) = (destroyed_at IS NOT NULL))
);
CREATE INDEX user_key_root_key_id ON events.user_key (root_key_id);
COMMENT ON COLUMN events.user_key.key_id IS 'Named in the header of every value sealed under this key.';

-- The root keys that a rotation has retired. Nobody has to keep them any more, so no user
-- key may be wrapped under one again: a process that was started before the rotation and
-- still has one as its primary key must not put it in use.
CREATE TABLE events.retired_root_key (
    root_key_id text        PRIMARY KEY,
    retired_at  timestamptz NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT, UPDATE, DELETE ON events.root_key_canary, events.user_key
   TO agent_runtime_service;
GRANT SELECT, INSERT ON events.retired_root_key TO agent_runtime_service;
REVOKE ALL ON events.root_key_canary, events.user_key FROM agent_runtime_reader;

-- A rotation locks root_key_canary against insertions, so that this sees what it does.
CREATE FUNCTION events.refuse_retired_root_key() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM events.retired_root_key r
                WHERE r.root_key_id = NEW.root_key_id) THEN
        RAISE EXCEPTION 'root key % was retired', NEW.root_key_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse_retired_root_key
    BEFORE INSERT ON events.root_key_canary
    FOR EACH ROW EXECUTE FUNCTION events.refuse_retired_root_key();

-- How far each follower has come. Lives in schema "read": deleting a row makes the
-- follower begin again, and loses nothing.
CREATE TABLE read.position (
    follower   text        PRIMARY KEY,
    position   bigint      NOT NULL,
    epoch      uuid        NOT NULL,
    definition text        NOT NULL,
    reason     text,
    moved_at   timestamptz NOT NULL DEFAULT now(),
    command_id uuid
) WITH (fillfactor = 50);
COMMENT ON COLUMN read.position.definition IS 'Hash of what the follower builds; another one means a rebuild.';
COMMENT ON COLUMN read.position.reason IS 'Why the follower stopped at the event after this position.';
COMMENT ON COLUMN read.position.command_id IS
    'Of the event at the position; null at position 0, or as long as it isn''t known.';
GRANT SELECT, INSERT, UPDATE, DELETE ON read.position TO agent_runtime_service;
GRANT SELECT ON read.position TO agent_runtime_reader;

-- Holds nothing. A read locks it in share mode before it takes its snapshot, and the
-- switch of a rebuild locks it alone: a snapshot from before the switch would see a
-- table from after it without its rows.
CREATE TABLE read.generation ();
GRANT SELECT, UPDATE ON read.generation TO agent_runtime_service;

-- A server that was promoted, or restored from a backup, may lack the end of the log and
-- use positions again. That it is another server than before shows in its timeline.
CREATE FUNCTION events.server() RETURNS text LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
    -- The control file says the new timeline only after the next checkpoint.
    SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
      FROM pg_control_system()
$$;

-- Why each epoch began, for the event that says so: whichever statement began it.
CREATE TABLE events.epoch_change (
    epoch      uuid        PRIMARY KEY,
    old_epoch  uuid        NOT NULL,
    position   bigint      NOT NULL,
    reason     text        NOT NULL DEFAULT 'restore'
               CHECK (reason IN ('restore', 'fail_over')),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON COLUMN events.epoch_change.position IS 'The last position that both epochs share.';
GRANT SELECT ON events.epoch_change TO agent_runtime_service, agent_runtime_reader;

CREATE FUNCTION events.keep_epoch_change() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO events.epoch_change (epoch, old_epoch, position)
    VALUES (new.epoch, old.epoch, new.position);
    RETURN NULL;
END $$;
CREATE TRIGGER keep_epoch_change AFTER UPDATE OF epoch ON events.head
   FOR EACH ROW WHEN (new.epoch <> old.epoch)
   EXECUTE FUNCTION events.keep_epoch_change();

-- Give the log a new epoch, after its end was lost. Read tables that are built from
-- events which the log still has are taken over, except two: the relay's topic is outside
-- of the database, so an operator decides on it, and the Merkle tree starts over, in the
-- batches of a rebuild.
CREATE FUNCTION events.begin_epoch() RETURNS uuid LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old_epoch uuid;
    new_epoch CONSTANT uuid := gen_random_uuid();
BEGIN
    SELECT h.epoch INTO old_epoch FROM events.head h FOR UPDATE;
    UPDATE events.head SET epoch = new_epoch, server = events.server();
    UPDATE read.position p
       SET epoch = new_epoch
     WHERE p.epoch = old_epoch AND p.follower NOT IN ('relay', 'merkle_tree')
       AND EXISTS (SELECT FROM events.stored_event e
                    WHERE e.notification_id = p.position AND e.command_id = p.command_id);
    RETURN new_epoch;
END $$;
REVOKE EXECUTE ON FUNCTION events.begin_epoch FROM public;

-- Continue the log on this server: in its epoch, if the caller knows an event of this
-- epoch that no fail-over should have undone, and the log has it; otherwise in a new one.
CREATE FUNCTION events.continue_on_server(
    known_epoch uuid, known_position bigint, known_command uuid
) RETURNS uuid LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    log events.head%ROWTYPE;
    is_known boolean;
    is_whole boolean;
    new_epoch uuid;
BEGIN
    SELECT * INTO log FROM events.head FOR UPDATE;
    is_known := coalesce(known_epoch = log.epoch, false);
    is_whole := is_known AND EXISTS (
        SELECT FROM events.stored_event e
         WHERE e.notification_id = known_position AND e.command_id = known_command);
    IF (is_known OR log.server <> events.server()) AND NOT is_whole THEN
        new_epoch := events.begin_epoch();
        UPDATE events.epoch_change SET reason = 'fail_over' WHERE epoch = new_epoch;
        RETURN new_epoch;
    END IF;
    UPDATE events.head SET server = events.server()
     WHERE server IS DISTINCT FROM events.server();
    RETURN log.epoch;
END $$;
REVOKE EXECUTE ON FUNCTION events.continue_on_server FROM public;
GRANT EXECUTE ON FUNCTION events.continue_on_server TO agent_runtime_service;

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

-- The encoding of client/agent_runtime_client/proofs/entry.py.
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

-- Signed heads of the Merkle tree. That they are here convinces nobody:
-- copies of them outside of this database do.
CREATE TABLE events.checkpoint (
    epoch      uuid        NOT NULL,
    size       bigint      NOT NULL,
    note       text        NOT NULL,
    public_key text        NOT NULL,
    signed_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (epoch, size)
);
COMMENT ON COLUMN events.checkpoint.note IS 'A C2SP checkpoint: a signed note.';
GRANT SELECT ON events.checkpoint TO agent_runtime_service, agent_runtime_reader;

-- Kept by a function, so that the service can't delete or replace one. All of the last
-- hour stay, then the last of each hour.
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

-- Traces whose spans may still come: spans are reported one by one, late, twice and
-- in any order, and only all of them together are a turn. Unlike the log, these rows
-- are changed, and deleted some hours after the last of their spans.
--
-- Spans of an export that isn't the first one of its trace are a row of their own: a
-- trace with many exports was rewritten by each of them. The first export, which most
-- traces have alone, stays in the trace's row. A trace at its bounds sets the column
-- "spans": then its parts are put into it.
CREATE TABLE events.reported_trace (
    agent_id      uuid        NOT NULL,
    trace_id      text        COLLATE "C" NOT NULL,
    spans         jsonb       NOT NULL,
    touched_at    timestamptz NOT NULL DEFAULT now(),
    -- Texts of a trace whose first span has none: of its other spans, the first input and
    -- the last output, sealed with the key of the session's user.
    first_input   jsonb,
    last_output   jsonb,
    parts         integer     NOT NULL DEFAULT 0,
    part_bytes    integer     NOT NULL DEFAULT 0,
    span_count    integer,
    has_entry     boolean,
    names_session boolean,
    session_id    text        COLLATE "C",
    PRIMARY KEY (agent_id, trace_id)
);
CREATE INDEX reported_trace_touched_at ON events.reported_trace (touched_at);
COMMENT ON COLUMN events.reported_trace.spans IS
    'By span id; texts are sealed, with the key of the user they will be recorded for.';
COMMENT ON COLUMN events.reported_trace.parts IS
    'Number of the last export after the first one.';
COMMENT ON COLUMN events.reported_trace.part_bytes IS
    'Of all parts; 0 if there are none.';
COMMENT ON COLUMN events.reported_trace.span_count IS
    'With its parts; a span that came twice may count twice. NULL: not counted yet.';
COMMENT ON COLUMN events.reported_trace.has_entry IS
    'Whether a turn can begin with one of its spans.';
-- When exports are put together, their order is lost: a span that arrived later may name
-- another session.
COMMENT ON COLUMN events.reported_trace.session_id IS
    'In which it was a turn when its parts were last put into its row; else NULL.';

CREATE TABLE events.reported_trace_part (
    agent_id uuid    NOT NULL,
    trace_id text    COLLATE "C" NOT NULL,
    part     integer NOT NULL,
    spans    jsonb   NOT NULL,
    PRIMARY KEY (agent_id, trace_id, part)
);
COMMENT ON TABLE events.reported_trace_part IS
    'Written and deleted only by who has locked the row of the trace.';

-- Ciphertext doesn't compress.
ALTER TABLE events.reported_trace
    ALTER COLUMN spans SET STORAGE EXTERNAL,
    ALTER COLUMN first_input SET STORAGE EXTERNAL,
    ALTER COLUMN last_output SET STORAGE EXTERNAL;
ALTER TABLE events.reported_trace_part ALTER COLUMN spans SET STORAGE EXTERNAL;

GRANT SELECT, INSERT, UPDATE, DELETE ON events.reported_trace TO agent_runtime_service;
GRANT SELECT, INSERT, DELETE ON events.reported_trace_part TO agent_runtime_service;
REVOKE ALL ON events.reported_trace, events.reported_trace_part FROM agent_runtime_reader;

-- Called by the statement that has locked the row of the trace.
CREATE FUNCTION events.add_reported_trace_part(agent uuid, trace text, number integer, given jsonb)
RETURNS integer LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO events.reported_trace_part (agent_id, trace_id, part, spans)
    VALUES (agent, trace, number, given);
    RETURN number;
END $$;
-- The parts before one, as the statement that has locked the row of the trace sees them:
-- volatile, so that these are also those that it waited for.
CREATE FUNCTION events.reported_trace_parts(agent uuid, trace text, before integer)
RETURNS text[] LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN array(SELECT p.spans::text
                   FROM events.reported_trace_part p
                  WHERE p.agent_id = agent AND p.trace_id = trace AND p.part < before
                  ORDER BY p.part);
END $$;

CREATE FUNCTION events.put_parts_into_reported_trace() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    later jsonb;
BEGIN
    IF OLD.part_bytes > 0 THEN
        -- Of a span that came twice, the first one stays.
        SELECT jsonb_object_agg(span.key, span.value ORDER BY p.part DESC)
          INTO later
          FROM events.reported_trace_part p, jsonb_each(p.spans) AS span
         WHERE p.agent_id = OLD.agent_id AND p.trace_id = OLD.trace_id;
        NEW.spans := NEW.spans || later || OLD.spans;
        NEW.part_bytes := 0;
        DELETE FROM events.reported_trace_part p
         WHERE p.agent_id = OLD.agent_id AND p.trace_id = OLD.trace_id;
    END IF;
    SELECT count(*), bool_or(span.value->'entry' <> 'null'),
           bool_or(span.value->>'session_id' IS NOT NULL)
      INTO NEW.span_count, NEW.has_entry, NEW.names_session
      FROM jsonb_each(NEW.spans) AS span;
    RETURN NEW;
END $$;
CREATE TRIGGER put_parts_into_reported_trace
    BEFORE UPDATE OF spans ON events.reported_trace
    FOR EACH ROW EXECUTE FUNCTION events.put_parts_into_reported_trace();

CREATE FUNCTION events.delete_parts_of_reported_trace() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM events.reported_trace_part p
     WHERE p.agent_id = OLD.agent_id AND p.trace_id = OLD.trace_id;
    RETURN NULL;
END $$;
CREATE TRIGGER delete_parts_of_reported_trace
    AFTER DELETE ON events.reported_trace
    FOR EACH ROW WHEN (OLD.part_bytes > 0)
    EXECUTE FUNCTION events.delete_parts_of_reported_trace();
