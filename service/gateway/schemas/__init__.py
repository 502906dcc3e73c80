"""JSON Schemas of tools: checked, and made fit for every client."""
