"""Every recorded session has the provider's cost, or says what isn't certain of it.

The recordings are those of ``make recordings``; the yardstick is in ``replay``.
"""

from typing import Final

import pytest

from service.price_catalog.imports.genai_prices.importer import import_genai_prices
from tests.instruments.costs.__main__ import DOCUMENT
from tests.instruments.costs.catalog import ImportedCatalog
from tests.instruments.costs.instrumentations.record import recording, recordings
from tests.instruments.costs.instrumentations.replay import replayed
from tests.instruments.costs.instrumentations.table import in_document, outcomes, table

SESSIONS_MIN: Final = 230
# Sessions whose cost was wrong before each instrumentation had a row of its own.
WRONG_BEFORE: Final = {
    "openai-openinference_openai": {"flex", "priority"},
    "responses-openinference_openai": {"flex", "priority", "search"},
    "anthropic-openinference_anthropic-anthropic": {"search"},
    "langchain_openai-openinference_langchain": {"flex", "priority"},
    "langchain_anthropic-openinference_langchain": {"search"},
    "agents_chat-openinference_agents": {"tools"},
    "litellm_openai-openinference_litellm": {"flex", "priority"},
    "litellm_anthropic-openinference_litellm": {"batch", "search", "write_1h"},
    "litellm_google-openinference_litellm": {"plain", "cached", "long", "reasoning"},
    "anthropic-opentelemetry_anthropic": {"search"},
    "openai-openllmetry_openai": {"flex", "priority"},
    "anthropic-openllmetry_anthropic": {"plain", "cached", "long", "search"},
    "google-openllmetry_google": {"reasoning", "audio"},
    "bedrock-openllmetry_bedrock": {"cached", "write_5m"},
    "langchain_openai-openllmetry_langchain": {"flex", "priority"},
    "langchain_anthropic-openllmetry_langchain": {"search"},
    "pydantic_ai_openai-pydantic_ai": {"flex", "priority"},
    "pydantic_ai_anthropic-pydantic_ai": {"search"},
    "openai-logfire_openai": {"plain", "cached", "flex", "priority"},
    "anthropic-logfire_anthropic": {"plain", "cached", "write_1h", "search"},
    "litellm_anthropic-litellm": {"batch", "search", "write_1h"},
    "litellm_openai-litellm": {"audio"},
    "openai-vercel6": {"plain", "cached", "reasoning", "flex", "priority"},
    "responses-vercel6": {"plain", "cached", "reasoning", "flex", "priority", "search"},
    "anthropic-vercel6": {"plain", "cached", "long", "write_5m", "write_1h", "search"},
    "google-vercel6": {"plain", "cached", "long", "reasoning"},
    "claude_code": {"plain", "cached", "long", "write_5m"},
}


@pytest.fixture(scope="module")
def catalog() -> ImportedCatalog:
    return ImportedCatalog(import_genai_prices())


@pytest.mark.parametrize("name", recordings())
async def test_no_session_is_silently_wrong(
    name: str, catalog: ImportedCatalog
) -> None:
    sessions = recording(name)["sessions"]

    said = {
        case: [turn.says for turn in await replayed(session, catalog)]
        for case, session in sessions.items()
    }

    assert sessions
    assert not {case for case, each in said.items() if "wrong" in each}, said


def test_enough_sessions_are_recorded_with_all_that_were_wrong() -> None:
    recorded = {name: set(recording(name)["sessions"]) for name in recordings()}

    assert sum(map(len, recorded.values())) >= SESSIONS_MIN
    assert not {
        name: cases - recorded.get(name, set())
        for name, cases in WRONG_BEFORE.items()
        if cases - recorded.get(name, set())
    }
    assert sum(map(len, WRONG_BEFORE.values())) >= 72


async def test_the_document_shows_what_the_recordings_say() -> None:
    assert in_document(DOCUMENT.read_text()) == table(await outcomes())
