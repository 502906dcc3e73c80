-- A turn that was recorded before the first of the kept spans of its trace is made of spans
-- that were deleted: those that are kept now can't amend it.
ALTER TABLE events.reported_trace ADD COLUMN kept_since bigint;
COMMENT ON COLUMN events.reported_trace.kept_since IS
    'The end of the log when the first of its spans came. NULL: a process of the version before began it.';
