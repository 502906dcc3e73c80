-- Several snapshots of an aggregate, so that a past state is near to one. A process of the
-- version before fails to store one until it ends, says so in its log, and reads any of
-- them: each is right.
ALTER TABLE events.snapshot
    DROP CONSTRAINT snapshot_pkey,
    ADD PRIMARY KEY (originator_id, originator_version);
