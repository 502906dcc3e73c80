"""Probes and metrics."""
