"""The endpoints that agents' clients call instead of a provider's."""
