"""The dialects of model calls: what a client and a provider both speak."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Dialect(StrEnum):
    """A request and its answer; no dialect is translated to another one."""

    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"
    OPENAI_EMBEDDINGS = "openai_embeddings"
    ANTHROPIC_MESSAGES = "anthropic_messages"


PATHS: Final = {
    Dialect.OPENAI_CHAT: "/chat/completions",
    Dialect.OPENAI_RESPONSES: "/responses",
    Dialect.OPENAI_EMBEDDINGS: "/embeddings",
    Dialect.ANTHROPIC_MESSAGES: "/messages",
}
"""What follows the base URL of a connection."""


def in_order(dialects: Iterable[str]) -> list[str]:
    """Return each dialect once, in the order of :class:`Dialect`."""
    given = {*dialects}
    return [each.value for each in Dialect if each in given]
