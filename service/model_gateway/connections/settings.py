"""The settings of a connection, as its events hold them."""

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict


class ConnectionCredential(TypedDict):
    """A secret of the connection's owner, and the header that it is sent in.

    ``scheme`` stands before the value, with a space; null for none.
    """

    secret_name: str
    header: str
    scheme: str | None


class ConnectionSettings(TypedDict):
    """Where calls go; ``provider`` is the key in the price catalog.

    Without a ``credential`` calls carry none. ``record_mode`` is ``strict`` or
    ``batched``.
    """

    name: str
    base_url: str
    dialects: list[str]
    provider: str
    credential: ConnectionCredential | None
    record_mode: str


def with_record_mode(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of an event from before calls were recorded."""
    return {**settings, "record_mode": "strict"}


def texts_of(settings: ConnectionSettings) -> Mapping[str, str]:
    """Return the settings as they are named and written in a sentence."""
    credential = settings["credential"]
    return {
        "name": settings["name"],
        "URL": settings["base_url"],
        "dialects": ", ".join(settings["dialects"]),
        "provider": settings["provider"],
        "secret": credential["secret_name"] if credential else "none",
        "header": credential["header"] if credential else "none",
        "record mode": settings["record_mode"],
        "scheme": (credential["scheme"] or "none") if credential else "none",
    }
