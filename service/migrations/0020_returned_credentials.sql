-- Answers of a connector's server that held the credential that it was sent: how many, when
-- the last one came, and from which URL; at another one, nothing of this is known.
ALTER TABLE events.connector_health
    ADD COLUMN credential_returns     bigint NOT NULL DEFAULT 0,
    ADD COLUMN credential_returned_at timestamptz,
    ADD COLUMN credential_url         text;
