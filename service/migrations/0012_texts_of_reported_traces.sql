-- Texts of a trace whose first span has none: of its other spans, the first input and
-- the last output, sealed with the key of the session's user.
ALTER TABLE events.reported_trace
    ADD COLUMN first_input jsonb,
    ADD COLUMN last_output jsonb;
-- Ciphertext doesn't compress.
ALTER TABLE events.reported_trace
    ALTER COLUMN first_input SET STORAGE EXTERNAL,
    ALTER COLUMN last_output SET STORAGE EXTERNAL;
