"""The OpenAPI document, read off the operations."""
