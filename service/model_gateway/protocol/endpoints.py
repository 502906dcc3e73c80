"""The endpoints of two APIs that are forwarded, each in one dialect."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service.model_gateway.dialects import PATHS, Dialect


class Api(StrEnum):
    """Whose shape errors and lists of models have."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """``suffix`` follows the dialect's path; what has one counts tokens only."""

    dialect: Dialect
    suffix: str = ""

    @property
    def api(self) -> Api:
        return API_OF[self.dialect]

    @property
    def counts_only(self) -> bool:
        return bool(self.suffix)

    @property
    def path(self) -> str:
        """Return what follows ``/v1`` here, and the base URL of a connection there."""
        return PATHS[self.dialect] + self.suffix


API_OF: Final = {
    Dialect.OPENAI_CHAT: Api.OPENAI,
    Dialect.OPENAI_RESPONSES: Api.OPENAI,
    Dialect.OPENAI_EMBEDDINGS: Api.OPENAI,
    Dialect.ANTHROPIC_MESSAGES: Api.ANTHROPIC,
}
CHAT: Final = Endpoint(dialect=Dialect.OPENAI_CHAT)
RESPONSES: Final = Endpoint(dialect=Dialect.OPENAI_RESPONSES)
RESPONSES_INPUT_TOKENS: Final = Endpoint(
    dialect=Dialect.OPENAI_RESPONSES, suffix="/input_tokens"
)
EMBEDDINGS: Final = Endpoint(dialect=Dialect.OPENAI_EMBEDDINGS)
MESSAGES: Final = Endpoint(dialect=Dialect.ANTHROPIC_MESSAGES)
MESSAGES_COUNT_TOKENS: Final = Endpoint(
    dialect=Dialect.ANTHROPIC_MESSAGES, suffix="/count_tokens"
)
ENDPOINTS: Final = (
    CHAT,
    RESPONSES,
    RESPONSES_INPUT_TOKENS,
    EMBEDDINGS,
    MESSAGES,
    MESSAGES_COUNT_TOKENS,
)
