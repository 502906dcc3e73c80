"""OpenTelemetry spans of the service's own work, exported over OTLP/HTTP.

The SDK is imported only where an endpoint is configured: it takes a fifth of a second.
"""
