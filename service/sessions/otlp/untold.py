"""Find what a span doesn't tell of its model call, though a price may depend on it."""

import re
from dataclasses import dataclass
from typing import Final

from service.sessions.otlp.answers import Answer
from service.sessions.otlp.attributes import Attributes, first_text
from service.sessions.otlp.counts import Counts
from service.sessions.otlp.instrumentation import (
    BATCH,
    READS,
    SEARCHES,
    TIER,
    WRITES_1H,
    Instrumentation,
)
from service.sessions.otlp.unread import unread_counts

IS_STREAM: Final = ("gen_ai.is_streaming", "gen_ai.request.stream")
CHAT_COMPLETION: Final = "chatcmpl-"
# A provider's own search tool, in the definition of a tool or an item of an answer; one
# whose name an instrumentation doesn't tell may be one.
SEARCH_TOOL: Final = re.compile(r'(?:web|google)_?search|"name": ?null', re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallRead:
    """What has been read of a model call, to find what of it isn't told."""

    found: Attributes
    row: Instrumentation
    answer: Answer
    counts: Counts
    conditions: dict[str, str]
    is_tier_told: bool
    model: str
    response_id: str

    def untold(self) -> list[str]:
        """Return what this span doesn't tell, of what its instrumentation may not."""
        names = [name for name in self.row.untold if self._lacks(name)]
        # Anthropic's answers name a batch as their tier.
        if TIER in names and "claude" in self.model:
            names.append(BATCH)
        if self.counts.prompt and not self.counts.cache_creation:
            names += [name for name in self.row.zero_is_untold if name not in names]
        if self.row.wrong_in_streams and _is_stream(self.found):
            names += self.row.wrong_in_streams
        names += self.counts.untold
        names += unread_counts(self.found, self.row, self.answer, self.counts)
        return list(dict.fromkeys(names))

    def _lacks(self, name: str) -> bool:
        if name == TIER:
            return not self.is_tier_told
        if self.answer.is_whole or name in self.counts.details:
            return False
        if name == SEARCHES:
            # OpenAI's chat completions have no tools of the provider.
            is_chat = self.response_id.startswith(CHAT_COMPLETION)
            return not is_chat and _may_search(self.found, self.row)
        if name == WRITES_1H:
            return bool(self.counts.cache_creation)
        if name == READS:
            return self._may_hide_reads()
        return True

    def _may_hide_reads(self) -> bool:
        """Return whether cached tokens may have been left out, as in OpenAI's tiers."""
        is_default = self.is_tier_told and self.conditions.get(TIER) == "default"
        is_other = self.model.startswith(("claude", "gemini"))
        return (
            bool(self.counts.prompt)
            and self.counts.cache_read is None
            and not (is_default or is_other)
        )


def _may_search(found: Attributes, row: Instrumentation) -> bool:
    """Return False only if the span tells the tools, and none of them searches."""
    return not row.tells_tools or asks_for_search(found, row)


def asks_for_search(found: Attributes, row: Instrumentation) -> bool:
    for key in row.tools:
        # One that ends with a dot stands before a number.
        keys = (
            [each for each in found if each.startswith(key)]
            if key[-1] == "."
            else [key]
        )
        for each in keys:
            tools = first_text(found, each)
            if tools is not None and SEARCH_TOOL.search(tools) is not None:
                return True
    return False


def _is_stream(found: Attributes) -> bool:
    return first_text(found, *IS_STREAM) == "true"
