"""The library's conformance test classes, without what only its cipher needs."""

import sys
from types import ModuleType

# Its module of tests imports its AES cipher, and with it a package that we don't
# use; the tests of that cipher are not among those that apply to us.
_cipher = ModuleType("eventsourcing.cipher")
_cipher.AESCipher = type("AESCipher", (), {})  # type: ignore[attr-defined]
sys.modules.setdefault("eventsourcing.cipher", _cipher)

from eventsourcing.tests import persistence  # noqa: E402

__all__ = ["persistence"]
