"""The MCP client of connectors, in the revision of each."""
