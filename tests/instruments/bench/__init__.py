"""Benchmarks: pairs of things that are measured in the same run."""
