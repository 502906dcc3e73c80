"""Tool calls and approvals, listed."""
