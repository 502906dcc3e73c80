"""The alert rules in a running Prometheus, against the faults that they are for."""
