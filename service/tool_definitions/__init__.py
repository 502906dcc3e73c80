"""The tools that connectors list: what was accepted of them, and their aliases."""
