-- Positions can be used again for other events, in the same epoch, when somebody cuts
-- the log. The command of the event at a position tells one from the other.
ALTER TABLE read.position ADD COLUMN command_id uuid;
COMMENT ON COLUMN read.position.command_id IS
    'Of the event at the position; null at position 0, or as long as it isn''t known.';

-- Of an aggregate's version, likewise. Snapshots are taken again when they are missed.
DELETE FROM events.snapshot;
ALTER TABLE events.snapshot ADD COLUMN command_id uuid NOT NULL;
COMMENT ON COLUMN events.snapshot.command_id IS
    'Of the event that made this version; without that event the snapshot isn''t read.';
