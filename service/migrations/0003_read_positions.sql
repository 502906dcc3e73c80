-- How far each follower has come. Lives in schema "read": deleting a row makes the
-- follower begin again, and loses nothing.
CREATE TABLE read.position (
    follower   text        PRIMARY KEY,
    position   bigint      NOT NULL,
    epoch      uuid        NOT NULL,
    definition text        NOT NULL,
    reason     text,
    moved_at   timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
COMMENT ON COLUMN read.position.definition IS 'Hash of what the follower builds; another one means a rebuild.';
COMMENT ON COLUMN read.position.reason IS 'Why the follower stopped at the event after this position.';
GRANT SELECT, INSERT, UPDATE, DELETE ON read.position TO agent_runtime_service;
GRANT SELECT ON read.position TO agent_runtime_reader;

-- Holds nothing. A read locks it in share mode before it takes its snapshot, and the
-- switch of a rebuild locks it alone: a snapshot from before the switch would see a
-- table from after it without its rows.
CREATE TABLE read.generation ();
GRANT SELECT, UPDATE ON read.generation TO agent_runtime_service;
