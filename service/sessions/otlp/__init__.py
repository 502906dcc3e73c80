"""OTLP over HTTP: the spans of instrumented agents become turns of sessions."""
