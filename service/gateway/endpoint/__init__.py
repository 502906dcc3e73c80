"""The MCP server of agents: their messages, answered in the revision of each."""
