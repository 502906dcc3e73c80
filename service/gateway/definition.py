"""A tool's definition as an upstream lists it, and the digest that pins it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self

import orjson

from service.footprint import footprint
from service.gateway.schemas.hidden import HiddenCharacters
from service.gateway.schemas.presented import Presented, presented

# Free to change without a person: the protocol's metadata, and pictures.
NOT_PINNED: Final = frozenset({"_meta", "icons"})


@dataclass(frozen=True)
class ToolDefinition:
    """A tool's name, and its document without ``_meta`` and ``icons``.

    ``digest`` is the SHA-256 of the document's canonical JSON (keys sorted, no spaces,
    UTF-8) in hex: what an agent may call is pinned by it.
    ``has_credential``: its upstream put the credential into it that it was sent. Then
    the document is the name alone, since a digest of the whole would let anybody test
    guesses of a short secret. ``hidden_characters`` says what agents see of those.
    """

    name: str
    document: Mapping[str, Any]
    digest: str
    has_credential: bool = False
    hidden_characters: HiddenCharacters = HiddenCharacters.REMOVE

    @cached_property
    def presented(self) -> Presented:
        """The document as agents see it; only of one that is acceptable."""
        return presented(self.document, self.hidden_characters)

    @cached_property
    def document_bytes(self) -> int:
        """How large the document is as JSON."""
        return len(canonical_json(self.document))

    @cached_property
    def footprint(self) -> int:
        """How many bytes of memory both documents take; only of an acceptable one."""
        return footprint(self.document) + footprint(self.presented.document)

    @classmethod
    def of(cls, listed: Mapping[str, Any]) -> Self:
        """Return the definition of a tool object of ``tools/list``.

        :raises ValueError: it has no name
        """
        name = listed.get("name")
        if not isinstance(name, str):
            raise ValueError("a tool needs a name")  # noqa: TRY004 # bad data
        document = {
            key: value for key, value in listed.items() if key not in NOT_PINNED
        }
        return cls(name, document, digest_of(document))

    @classmethod
    def withheld(cls, name: str) -> Self:
        """Return the definition of a tool in place of one with the credential."""
        document = {"name": name}
        return cls(name, document, digest_of(document), has_credential=True)


def digest_of(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical_json(document)).hexdigest()


def canonical_json(value: Any) -> bytes:
    """Return the one JSON of a value: keys sorted, without spaces, UTF-8."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
