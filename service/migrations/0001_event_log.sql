-- The append-only log and the one function that writes it.

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
    recorded_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 10);
COMMENT ON COLUMN events.head.epoch IS
    'New after a restore or fail-over that may use positions again.';
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
COMMENT ON COLUMN events.stored_event.notification_id IS 'Position in the log: 1, 2, 3, ... without gaps.';
COMMENT ON COLUMN events.stored_event.recorded_at IS 'Set under the lock; the events of one command share it, the next command has a later one.';
COMMENT ON COLUMN events.stored_event.metadata IS 'Who, by which token, in which request, from where.';

-- Answers kept for Idempotency-Key, in the transaction of the events.
CREATE TABLE events.receipt (
    key         bytea       PRIMARY KEY,
    request     bytea       NOT NULL,
    answer      bytea       NOT NULL,
    position    bigint,
    recorded_at timestamptz NOT NULL
);
CREATE INDEX receipt_recorded_at ON events.receipt (recorded_at);

-- A shortcut for long aggregates; can be deleted at any time.
CREATE TABLE events.snapshot (
    originator_id      uuid   PRIMARY KEY,
    originator_version bigint NOT NULL,
    class_version      int    NOT NULL,
    topic              text   NOT NULL,
    state              bytea  NOT NULL
);
COMMENT ON COLUMN events.snapshot.topic IS 'That of the aggregate.';

CREATE FUNCTION events.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are append-only';
END $$;
CREATE TRIGGER append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON events.stored_event
    FOR EACH STATEMENT EXECUTE FUNCTION events.refuse_change();

-- Events, the head and receipts are written by events.append alone.
GRANT SELECT ON events.stored_event, events.head TO agent_runtime_service;
GRANT SELECT, DELETE ON events.receipt TO agent_runtime_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON events.snapshot TO agent_runtime_service;
GRANT SELECT ON events.stored_event, events.head TO agent_runtime_reader;

-- Append the commands of one batch. Arrays that begin with the same word run in
-- parallel; *_command says to which command (1, 2, ...) an element belongs.
-- A command is refused when an aggregate that it read has moved, or when its
-- idempotency key has been used; its neighbours are not affected. All are refused
-- when the log is of another epoch than they were decided in: log_epoch tells.
-- A command's recorded_at is batch_recorded_at plus a microsecond for each command
-- before it in the batch.
CREATE FUNCTION events.append(
    expected_epoch   uuid,
    read_command     int[], read_id  uuid[], read_version  bigint[],
    event_command    int[], event_id uuid[], event_version bigint[],
    event_topic      text[], event_state bytea[],
    command_ids      uuid[], command_metadata text[],
    receipt_command  int[], receipt_key bytea[], receipt_request bytea[], receipt_answer bytea[],
    sealed_command   int[], sealed_ids uuid[], sealed_owner uuid[], sealed_bytes bytea[],
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
AS $$
DECLARE
    microsecond CONSTANT interval := interval '1 microsecond';
    refused  int[] := '{}';
    appended bigint;
BEGIN
    SELECT h.epoch, h.position, greatest(clock_timestamp(), h.recorded_at + microsecond)
      INTO log_epoch, base_position, batch_recorded_at
      FROM events.head h
       FOR UPDATE;
    IF log_epoch <> expected_epoch THEN
        RETURN;
    END IF;

    -- LATERAL with LIMIT 1 keeps these an index probe for each key and aggregate,
    -- whatever the statistics say.
    IF cardinality(receipt_key) > 0 THEN
        SELECT array_agg(given.command), array_agg(kept.request),
               array_agg(kept.answer), array_agg(kept.position)
          INTO replayed, replayed_requests, replayed_answers, replayed_positions
          FROM unnest(receipt_command, receipt_key) AS given (command, key)
         CROSS JOIN LATERAL (
               SELECT r.request, r.answer, r.position
                 FROM events.receipt r
                WHERE r.key = given.key
                LIMIT 1) AS kept;
        refused := coalesce(replayed, refused);
    END IF;

    SELECT array_agg(DISTINCT given.command)
      INTO conflicted
      FROM unnest(read_command, read_id, read_version) AS given (command, id, version)
      LEFT JOIN LATERAL (
           SELECT e.originator_version
             FROM events.stored_event e
            WHERE e.originator_id = given.id
            ORDER BY e.originator_version DESC
            LIMIT 1) AS latest ON true
     WHERE coalesce(latest.originator_version, 0) <> given.version
       AND given.command <> ALL (refused);
    refused := refused || coalesce(conflicted, '{}');

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

    IF appended > 0 THEN
        UPDATE events.head
           SET position = base_position + appended,
               recorded_at = batch_recorded_at + cardinality(command_ids) * microsecond;
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
