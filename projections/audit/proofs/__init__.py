"""The Merkle tree of the log, and signed checkpoints."""
