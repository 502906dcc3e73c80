"""The tool gateway: agents' tool calls are decided, recorded and forwarded."""
