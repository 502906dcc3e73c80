"""Tool rules: patterns and decisions."""
