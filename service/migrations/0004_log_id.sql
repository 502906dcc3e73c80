-- Which log this is, for those who keep what they have read of it. Unlike the epoch
-- it stays through a restore; a copy that lives on beside its original needs another.
ALTER TABLE events.head ADD COLUMN log_id uuid NOT NULL DEFAULT gen_random_uuid();
COMMENT ON COLUMN events.head.log_id IS 'The same for the log''s whole life.';
