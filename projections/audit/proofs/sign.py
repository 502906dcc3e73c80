"""Sign checkpoints: notes with Ed25519, by C2SP (c2sp.org/signed-note)."""

import base64

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.note import VerifierKey


def sign_note(text: str, name: str, private: Ed25519PrivateKey) -> str:
    """Return a text, which ends a line, as a note that the key has signed."""
    key = VerifierKey(name, private.public_key().public_bytes_raw())
    signature = key.key_id + private.sign(text.encode())
    return f"{text}\n— {name} {base64.b64encode(signature).decode()}\n"


def sign_checkpoint(checkpoint: Checkpoint, private: Ed25519PrivateKey) -> str:
    """Return a checkpoint as a note signed in the name of its log."""
    return sign_note(checkpoint.text, checkpoint.origin, private)
