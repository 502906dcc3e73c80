"""Runs in LiteLLM's environment: its own costs of calls, from JSON to JSON.

Arguments: LiteLLM's price file, the file of the calls, and the file for the answers.
A call is ``[key, provider, usage, service tier]``. Its answer is two costs, or errors:
by the entry of that key, and by the one that LiteLLM looks up for that model.
"""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from litellm.litellm_core_utils.llm_cost_calc.utils import generic_cost_per_token
from litellm.types.utils import (
    CompletionTokensDetailsWrapper,
    PromptTokensDetailsWrapper,
    Usage,
)

AT = datetime(2026, 11, 20, 8, 15, tzinfo=UTC)


def usage(counts: dict[str, int]) -> Usage:
    cached = counts.get("cache_read", 0)
    written = counts.get("cache_write", 0)
    audio = counts.get("input_audio", 0)
    details = PromptTokensDetailsWrapper(
        cached_tokens=cached,
        cache_creation_tokens=written,
        audio_tokens=audio,
        text_tokens=counts["input"] - cached - written - audio,
    )
    reasoning = counts.get("reasoning", 0)
    return Usage(
        prompt_tokens=counts["input"],
        completion_tokens=counts["output"],
        total_tokens=counts["input"] + counts["output"],
        prompt_tokens_details=details,
        completion_tokens_details=CompletionTokensDetailsWrapper(
            reasoning_tokens=reasoning, text_tokens=counts["output"] - reasoning
        ),
    )


def cost(
    entry: Any, key: str, provider: str, counts: dict[str, int], tier: str | None
) -> Any:
    """Return the cost by an entry; None is the one that LiteLLM looks up."""
    try:
        parts = generic_cost_per_token(
            model=key,
            usage=usage(counts),
            custom_llm_provider=provider,
            service_tier=tier,
            model_info=entry,
            current_time=AT,
        )
    except Exception as error:  # noqa: BLE001  # any error is an answer
        return f"{type(error).__name__}: {error}"[:200]
    return sum(parts)


def main() -> None:
    prices = json.loads(Path(sys.argv[1]).read_bytes())
    asked = json.loads(Path(sys.argv[2]).read_bytes())
    answers = [
        [cost(prices[key], key, *others), cost(None, key, *others)]
        for key, *others in asked
    ]
    Path(sys.argv[3]).write_text(json.dumps(answers))


if __name__ == "__main__":
    main()
