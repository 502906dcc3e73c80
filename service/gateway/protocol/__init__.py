"""The wire format of MCP: pure functions, without I/O and without decisions."""
