"""Model calls that are recorded together: batches, and refusals."""
