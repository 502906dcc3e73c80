"""Our costs against LiteLLM's own calculator, over its own price file."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from service.price_catalog.charge import Charge, Unpriced
from service.price_catalog.imports.exact_prices import RefusedRowError
from service.price_catalog.imports.litellm.importer import import_litellm
from service.price_catalog.imports.litellm.names import read_key
from service.price_catalog.pricing import price_call
from service.price_catalog.usage import ModelCallUsage
from tests.instruments.costs.agreement import Agreement
from tests.instruments.costs.catalog import ImportedCatalog
from tests.support.harness.environment import installed_from
from tests.support.project import ROOT

LOCK = Path(__file__).with_name("litellm-requirements.txt")
VERSION = "1.109.1"
PRICES = "litellm/model_prices_and_context_window_backup.json"
# As in litellm_answers.py.
AT = datetime(2026, 11, 20, 8, 15, tzinfo=UTC)
CALLS: tuple[tuple[dict[str, int], str | None], ...] = (
    ({"input": 1_234, "output": 567}, None),
    ({"input": 9_876, "output": 543, "cache_read": 4_321}, None),
    (
        {"input": 30_011, "output": 3, "cache_read": 10_007, "cache_write": 9_001},
        None,
    ),
    ({"input": 300_007, "output": 1_999, "cache_read": 5_003}, None),
    ({"input": 5_003, "output": 701, "input_audio": 2_003}, None),
    ({"input": 5_003, "output": 701, "reasoning": 301}, None),
    ({"input": 5_003, "output": 701}, "priority"),
    ({"input": 5_003, "output": 701}, "flex"),
)
DIRECTIONS = ("input", "output")
# LiteLLM computes with binary floating point.
RELATIVE_ERROR = 1e-9

PER_REQUEST = "the entry has a price per request, which LiteLLM's function leaves out"
ONE_DIRECTION = (
    "the entry has no price for the tokens of one direction, which LiteLLM computes "
    "as 0; here the cost is unknown"
)


ANOTHER_ENTRY = (
    "the file has two entries for one provider and model, and LiteLLM looks up the "
    "other one, whose cost is ours"
)


def litellm_folder() -> Path:
    """Return the environment with LiteLLM, which is installed the first time.

    :raises MissingError: the package index doesn't have it
    """
    return installed_from(LOCK, ROOT / ".litellm")


def price_file(folder: Path) -> Path:
    return next(folder.glob(f"lib/python3*/site-packages/{PRICES}"))


async def compare(folder: Path) -> Agreement:
    prices = price_file(folder)
    document = prices.read_bytes()
    catalog = ImportedCatalog(import_litellm(document, version=VERSION))
    calls = list(_calls(json.loads(document)))
    agreement = Agreement("LiteLLM: its own price file", share_min=0.995)
    agreement.names = len({key for key, *_ in calls})
    asked = [[key, *others] for key, _, _, *others in calls]
    answers = _answers(folder, prices, asked)
    for call, (theirs, looked_up) in zip(calls, answers, strict=True):
        key, entry, model, provider, counts, tier = call
        ours = await price_call(
            _usage(counts, tier),
            provider=provider,
            models=(model,),
            at=AT,
            catalog=catalog,
        )
        agreement.add(
            f"{key} {counts} {tier}: {ours} instead of {theirs}",
            is_equal=_is_equal(ours.amount, theirs),
            reason=_reason(entry, ours, theirs, looked_up),
        )
    return agreement


def _calls(entries: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield (key, entry, model, provider, counts, service tier)."""
    for key, entry in entries.items():
        if not isinstance(entry, dict) or not (
            entry.get("input_cost_per_token") or entry.get("output_cost_per_token")
        ):
            continue
        try:
            provider, model = read_key(key, entry)
        except RefusedRowError:
            continue
        has_output = entry.get("mode") not in ("embedding", "rerank")
        for counts, tier in CALLS:
            output = counts["output"] if has_output else 0
            reasoning = {"reasoning": 0} if not has_output else {}
            used = {**counts, "output": output, **reasoning}
            yield key, entry, model, provider, used, tier


def _answers(folder: Path, prices: Path, asked: list[Any]) -> list[Any]:
    with tempfile.TemporaryDirectory() as name:
        calls, answers = Path(name, "calls.json"), Path(name, "answers.json")
        calls.write_text(json.dumps(asked))
        script = Path(__file__).with_name("litellm_answers.py")
        subprocess.run(
            [folder / "bin/python", script, prices, calls, answers],
            check=True,
            capture_output=True,
        )
        found: list[Any] = json.loads(answers.read_bytes())
    return found


def _usage(counts: dict[str, int], tier: str | None) -> ModelCallUsage:
    return ModelCallUsage(
        input_tokens=counts["input"],
        output_tokens=counts["output"],
        cache_read_tokens=counts.get("cache_read"),
        cache_write_tokens=counts.get("cache_write"),
        input_audio_tokens=counts.get("input_audio"),
        output_reasoning_tokens=counts.get("reasoning"),
        conditions={"service_tier": tier} if tier else {},
    )


def _is_equal(ours: Decimal | None, theirs: Any) -> bool:
    if ours is None or isinstance(theirs, str):
        return False
    return bool(abs(float(ours) - theirs) <= RELATIVE_ERROR * theirs)


def _reason(
    entry: dict[str, Any], ours: Charge, theirs: Any, looked_up: Any
) -> str | None:
    per_request = entry.get("input_cost_per_request")
    if per_request and ours.amount is not None:
        rest = ours.amount - Decimal(str(per_request))
        return PER_REQUEST if _is_equal(rest, theirs) else None
    is_partial = any(entry.get(f"{way}_cost_per_token") is None for way in DIRECTIONS)
    if ours.unpriced is Unpriced.NO_PRICE_THEN and is_partial:
        return ONE_DIRECTION
    return ANOTHER_ENTRY if _is_equal(ours.amount, looked_up) else None
