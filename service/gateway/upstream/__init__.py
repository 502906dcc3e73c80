"""The MCP client of connectors: guarded connections, in the revision of each."""
