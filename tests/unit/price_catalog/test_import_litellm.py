"""Each oddity of LiteLLM's price file, in the smallest file that has it."""

import hashlib
import json
from decimal import Decimal

import pytest

from service.price_catalog.imports.litellm import importer as litellm
from service.price_catalog.imports.litellm.importer import (
    InvalidPriceSourceError,
    import_litellm,
)
from service.price_catalog.imports.price_list import (
    Import,
    PricePeriod,
    ReasonCode,
)

FLAT = {
    "litellm_provider": "openai",
    "mode": "chat",
    "input_cost_per_token": 2.5e-06,
    "output_cost_per_token": 1e-05,
}


def entry(**fields: object) -> dict[str, object]:
    return FLAT | fields


def by_image(mode: object) -> dict[str, object]:
    return {"litellm_provider": "a", "mode": mode, "output_cost_per_image": 1}


def importing(**entries: object) -> Import:
    return import_litellm(json.dumps(entries).encode())


def only_period(**fields: object) -> PricePeriod:
    [model] = importing(model=entry(**fields)).models
    [period] = model.periods
    return period


def test_a_flat_price_becomes_one_open_period() -> None:
    document = json.dumps({"openai/gpt-x": FLAT}).encode()
    imported = import_litellm(document, version="1.2.3")
    assert imported.source.name == "litellm"
    assert imported.source.version == "1.2.3"
    assert imported.source.sha256 == hashlib.sha256(document).hexdigest()
    [model] = imported.models
    assert (model.provider, model.provider_name) == ("openai", "OpenAI")
    assert model.model == "gpt-x"
    assert model.periods == (
        PricePeriod(
            input_price_per_1m=Decimal("2.5"),
            output_price_per_1m=Decimal(10),
            cache_creation_price_per_1m=None,
            cache_read_price_per_1m=None,
            currency="USD",
            effective_from=None,
            effective_until=None,
            notes=None,
        ),
    )


def test_cache_prices_are_read() -> None:
    period = only_period(
        cache_creation_input_token_cost=3.125e-06, cache_read_input_token_cost=0
    )
    assert period.cache_creation_price_per_1m == Decimal("3.125")
    assert period.cache_read_price_per_1m == Decimal(0)


def test_float_noise_is_rounded_and_said() -> None:
    period = only_period(input_cost_per_token=0.000015000020000000002)
    assert period.input_price_per_1m == Decimal("15.00002")
    assert period.notes == "Rounded to 10 decimal places: input."


@pytest.mark.parametrize(
    "literal",
    ["-1e-6", "NaN", '"1e-6"', "[]", "1e999999999999999999999"],
)
@pytest.mark.parametrize(
    "field",
    [
        "input_cost_per_token",
        "cache_read_input_token_cost",
        "input_cost_per_token_above_200k_tokens",
        "output_cost_per_audio_token",
    ],
)
def test_a_wrong_price_skips_its_row_and_no_other(field: str, literal: str) -> None:
    wrong = json.dumps(entry(**{field: "PRICE"})).replace('"PRICE"', literal)
    document = f'{{"kept": {json.dumps(FLAT)}, "wrong": {wrong}}}'
    imported = import_litellm(document.encode())
    assert [each.model for each in imported.models] == ["kept"]
    [skipped] = imported.skipped
    assert (skipped.provider, skipped.model) == ("openai", "wrong")
    assert skipped.code == ReasonCode.INVALID_PRICE
    assert field in skipped.reason


def test_a_price_beyond_any_is_skipped() -> None:
    imported = importing(kept=FLAT, dear=entry(input_cost_per_token=20_000))
    [skipped] = imported.skipped
    assert (skipped.model, skipped.code) == ("dear", ReasonCode.PRICE_OUT_OF_RANGE)


@pytest.mark.parametrize(
    ("key", "listed", "code"),
    [
        ("sample_spec", FLAT, ReasonCode.NOT_A_MODEL),
        ("fallback_generalizations", {"rules": []}, ReasonCode.NOT_A_MODEL),
        ("a list", [], ReasonCode.NOT_A_MODEL),
        ("bedrock/*/cohere.command", FLAT, ReasonCode.WILDCARD),
        ("bedrock/eu/1-month-commitment/claude", FLAT, ReasonCode.COMMITMENT),
        ("bedrock/*/6-month-commitment/command", FLAT, ReasonCode.COMMITMENT),
        ("no provider", {"mode": "chat"}, ReasonCode.INVALID_PROVIDER),
        ("loud", entry(litellm_provider="OpenAI"), ReasonCode.INVALID_PROVIDER),
        ("n" * 257, FLAT, ReasonCode.INVALID_NAME),
        ("image", by_image("image_generation"), ReasonCode.OTHER_MODE),
        ("no mode", by_image(None), ReasonCode.OTHER_MODE),
        ("odd mode", by_image(["chat"]), ReasonCode.OTHER_MODE),
        (
            "by the second",
            {"litellm_provider": "a", "mode": "chat", "input_cost_per_second": 1},
            ReasonCode.UNPRICED,
        ),
        ("tiers", entry(tiered_pricing={}), ReasonCode.INVALID_TIERS),
        ("tier", entry(tiered_pricing=[1]), ReasonCode.INVALID_TIERS),
        ("range", entry(tiered_pricing=[{"range": []}]), ReasonCode.INVALID_TIERS),
        (
            "nan range",
            entry(tiered_pricing=[{"range": [float("nan")]}]),
            ReasonCode.INVALID_TIERS,
        ),
    ],
)
def test_what_is_no_price_by_token_is_skipped_with_its_reason(
    key: str, listed: object, code: ReasonCode
) -> None:
    name = key[:256]
    imported = importing(**{"kept": FLAT, key: listed})
    [skipped] = imported.skipped
    assert (skipped.model, skipped.code) == (name, code)
    assert [each.model for each in imported.models] == ["kept"]


@pytest.mark.parametrize(
    "mode", ["chat", "completion", "embedding", "realtime", "responses"]
)
def test_modes_billed_by_text_token_are_imported(mode: str) -> None:
    assert only_period(mode=mode).input_price_per_1m == Decimal("2.5")


def test_only_the_providers_own_prefix_goes() -> None:
    imported = importing(
        **{
            "bedrock/us-east-1/claude": entry(litellm_provider="bedrock"),
            "azure/instruct": entry(litellm_provider="azure_text"),
            "bare": entry(litellm_provider="azure_text"),
        }
    )
    assert [(each.provider, each.model) for each in imported.models] == [
        ("azure_text", "azure/instruct"),
        ("azure_text", "bare"),
        ("bedrock", "us-east-1/claude"),
    ]


@pytest.mark.parametrize("order", [["m", "openai/m"], ["openai/m", "m"]])
def test_of_a_bare_and_a_prefixed_key_the_prefixed_one_counts(order: list[str]) -> None:
    prices = {"m": 1e-6, "openai/m": 2e-6}
    imported = importing(
        **{key: entry(input_cost_per_token=prices[key]) for key in order}
    )
    [model] = imported.models
    assert model.periods[0].input_price_per_1m == Decimal(2)
    [skipped] = imported.skipped
    assert skipped.code == ReasonCode.CONFLICTING_DUPLICATE
    assert "m has other prices than openai/m" in skipped.reason


def test_a_duplicate_that_agrees_is_no_conflict() -> None:
    imported = importing(**{"m": FLAT, "openai/m": FLAT})
    assert [each.code for each in imported.skipped] == [ReasonCode.DUPLICATE]
    assert len(imported.models) == 1


def test_a_held_prefixed_key_still_counts_over_a_bare_one() -> None:
    zero = entry(input_cost_per_token=0, output_cost_per_token=0)
    imported = importing(**{"openai/m": zero, "m": FLAT})
    assert not imported.models
    assert [each.model.model for each in imported.held] == ["m"]
    assert [each.code for each in imported.skipped] == [
        ReasonCode.CONFLICTING_DUPLICATE
    ]


def test_zero_prices_are_held_back_for_providers_that_bill() -> None:
    zero = entry(input_cost_per_token=0, output_cost_per_token=0.0)
    imported = importing(
        **{"m": zero, "ollama/m": zero | {"litellm_provider": "ollama"}}
    )
    [held] = imported.held
    assert (held.model.provider, held.code) == ("openai", ReasonCode.ZERO_PRICE)
    [free] = imported.models
    assert free.provider_name == "Ollama"
    assert free.periods[0].input_price_per_1m == Decimal(0)
    assert "its operator's own hardware" in (free.periods[0].notes or "")


def test_an_unknown_provider_is_shown_by_its_key() -> None:
    [model] = importing(m=entry(litellm_provider="acme")).models
    assert model.provider_name == "acme"


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"not json",
        b"\xff\xfe\xff",
        b"[]",
        b"{}",
        b"null",
        b'{"name": "some-package", "version": "1.0"}',
        b'{"m": {"litellm_provider": 1}}',
        pytest.param(b"[" * 100_000, id="deep list"),
        pytest.param(b'{"m":' * 100_000, id="deep object"),
    ],
)
def test_what_is_no_price_file_raises_the_named_error(document: bytes) -> None:
    with pytest.raises(InvalidPriceSourceError):
        import_litellm(document)


def test_a_file_over_the_limit_is_refused_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = json.dumps({"m": FLAT}).encode()
    monkeypatch.setattr(litellm, "DOCUMENT_BYTES_MAX", len(document))
    assert import_litellm(document).models
    with pytest.raises(InvalidPriceSourceError, match="at most"):
        import_litellm(document + b" ")


def test_a_number_of_very_many_digits_is_only_its_rows_fault() -> None:
    digits = "9" * 10_000
    wrong = json.dumps(entry(input_cost_per_token=0)).replace(": 0", f": {digits}")
    document = f'{{"kept": {json.dumps(FLAT)}, "wrong": {wrong}}}'.encode()
    [skipped] = import_litellm(document).skipped
    assert skipped.code == ReasonCode.PRICE_OUT_OF_RANGE


def test_names_that_cannot_be_shown_are_skipped_with_what_can() -> None:
    document = json.dumps({"a\x00b\ud800": FLAT}).encode()
    [skipped] = import_litellm(document).skipped
    assert skipped.code == ReasonCode.INVALID_NAME
    assert skipped.model == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"
