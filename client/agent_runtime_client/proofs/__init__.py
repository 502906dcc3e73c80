"""Checks of the audit log that need nothing of the service but its proofs.

The service uses them, too: there is one implementation.
"""
