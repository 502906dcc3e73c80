"""The audit trail, history and replay, and proofs that the log was not rewritten."""
