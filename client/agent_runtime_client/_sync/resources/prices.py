"""Providers, models and their prices over time."""
# Made by "make generated"; do not edit.

from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client._sync.pages import Pages, Paging
from agent_runtime_client.models import (
    After,
    ImportReport,
    KnownPrice,
    PricedModel,
    PriceHistory,
    Provider,
    ProviderEntry,
    RepricingReport,
    StructureBody,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven
from agent_runtime_client.response import ResponseList


class PricesResource:
    """Providers, models and their prices over time."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def add_provider(
        self, key: str, display_name: str, *, idempotency_key: str | None = None
    ) -> Provider:
        """Add a provider.

        Its key can't be changed later. It is listed once one of its models has a price.

        :param key: Names the provider in prices and sessions, such as `openai`.
        :param display_name: The name that people read.
        """
        return self._caller.model(
            operations.POST_PROVIDER,
            Provider,
            body={"key": key, "display_name": display_name},
            idempotency_key=idempotency_key,
        )

    def get_providers(
        self,
        *,
        as_of: datetime | NotGiven = NOT_GIVEN,
        at: int | datetime | NotGiven = NOT_GIVEN,
    ) -> ResponseList[ProviderEntry]:
        """List the providers and models with an effective price.

        A price is effective from its `effective_from` until just before its
        `effective_until`. `as_of` selects another time than now. `at`, a time or a
        position of the log, shows the prices as they were known then, without later
        corrections.

        :param as_of: The prices in effect at this time; by default now.
        :param at: A log position or a time: answer as of then.
        """
        return self._caller.models(
            operations.GET_PROVIDERS, ProviderEntry, query={"as_of": as_of, "at": at}
        )

    def set(
        self,
        provider: str,
        model: str,
        *,
        input_price_per_1m: Decimal | int | str | None | NotGiven = NOT_GIVEN,
        output_price_per_1m: Decimal | int | str | None | NotGiven = NOT_GIVEN,
        cache_creation_price_per_1m: Decimal | int | str | None | NotGiven = NOT_GIVEN,
        cache_read_price_per_1m: Decimal | int | str | None | NotGiven = NOT_GIVEN,
        currency: Literal[
            "AED",
            "AFN",
            "ALL",
            "AMD",
            "AOA",
            "ARS",
            "AUD",
            "AWG",
            "AZN",
            "BAM",
            "BBD",
            "BDT",
            "BHD",
            "BIF",
            "BMD",
            "BND",
            "BOB",
            "BRL",
            "BSD",
            "BTN",
            "BWP",
            "BYN",
            "BZD",
            "CAD",
            "CDF",
            "CHF",
            "CLP",
            "CNY",
            "COP",
            "CRC",
            "CUP",
            "CVE",
            "CZK",
            "DJF",
            "DKK",
            "DOP",
            "DZD",
            "EGP",
            "ERN",
            "ETB",
            "EUR",
            "FJD",
            "FKP",
            "GBP",
            "GEL",
            "GHS",
            "GIP",
            "GMD",
            "GNF",
            "GTQ",
            "GYD",
            "HKD",
            "HNL",
            "HTG",
            "HUF",
            "IDR",
            "ILS",
            "INR",
            "IQD",
            "IRR",
            "ISK",
            "JMD",
            "JOD",
            "JPY",
            "KES",
            "KGS",
            "KHR",
            "KMF",
            "KPW",
            "KRW",
            "KWD",
            "KYD",
            "KZT",
            "LAK",
            "LBP",
            "LKR",
            "LRD",
            "LSL",
            "LYD",
            "MAD",
            "MDL",
            "MGA",
            "MKD",
            "MMK",
            "MNT",
            "MOP",
            "MRU",
            "MUR",
            "MVR",
            "MWK",
            "MXN",
            "MYR",
            "MZN",
            "NAD",
            "NGN",
            "NIO",
            "NOK",
            "NPR",
            "NZD",
            "OMR",
            "PAB",
            "PEN",
            "PGK",
            "PHP",
            "PKR",
            "PLN",
            "PYG",
            "QAR",
            "RON",
            "RSD",
            "RUB",
            "RWF",
            "SAR",
            "SBD",
            "SCR",
            "SDG",
            "SEK",
            "SGD",
            "SHP",
            "SLE",
            "SOS",
            "SRD",
            "SSP",
            "STN",
            "SVC",
            "SYP",
            "SZL",
            "THB",
            "TJS",
            "TMT",
            "TND",
            "TOP",
            "TRY",
            "TTD",
            "TWD",
            "TZS",
            "UAH",
            "UGX",
            "USD",
            "UYU",
            "UZS",
            "VED",
            "VES",
            "VND",
            "VUV",
            "WST",
            "XAF",
            "XCD",
            "XCG",
            "XOF",
            "XPF",
            "YER",
            "ZAR",
            "ZMW",
            "ZWG",
        ]
        | NotGiven = NOT_GIVEN,
        notes: str | None | NotGiven = NOT_GIVEN,
        structure: StructureBody | None | NotGiven = NOT_GIVEN,
        effective_from: datetime | None | NotGiven = NOT_GIVEN,
        effective_until: datetime | None | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> PricedModel:
        """Set the price of a model for a period.

        The period is half-open and starts now by default; without an end it is open. An
        earlier open period ends where the new one starts. A future price takes effect
        automatically. If-Match is the model's version.

        :param input_price_per_1m: Price of 1,000,000 tokens of prompts; 0 is free, left
            out or null is unknown.
        :param output_price_per_1m: Price of 1,000,000 tokens of output; 0 is free, left
            out or null is unknown.
        :param cache_creation_price_per_1m: Price of 1,000,000 tokens written to a
            cache; 0 is free, left out or null is unknown.
        :param cache_read_price_per_1m: Price of 1,000,000 tokens read from a cache; 0
            is free, left out or null is unknown.
        :param currency: The currency, as its ISO 4217 code.
        :param notes: A remark, such as where the price is from.
        :param structure: All rates of a price with more than these four: tiers by
            length of the prompt, times of day, units such as audio, service tiers.
        :param effective_from: When it becomes effective; by default now, or when the
            corrected price did.
        :param effective_until: When it ends; by default when the next one begins, or
            when the corrected price did.
        :param provider: The provider's key, such as `openai`.
        :param model: The model's name, as its provider has it.
        """
        return self._caller.model(
            operations.POST_PRICE,
            PricedModel,
            body={
                "input_price_per_1m": input_price_per_1m,
                "output_price_per_1m": output_price_per_1m,
                "cache_creation_price_per_1m": cache_creation_price_per_1m,
                "cache_read_price_per_1m": cache_read_price_per_1m,
                "currency": currency,
                "notes": notes,
                "structure": structure,
                "effective_from": effective_from,
                "effective_until": effective_until,
                "provider": provider,
                "model": model,
            },
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def history(
        self,
        provider: str,
        model: str,
        *,
        at: int | datetime | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        after: str | NotGiven = NOT_GIVEN,
    ) -> Pages[KnownPrice, PriceHistory]:
        """List all prices ever recorded for a model.

        In the order of recording: past, present and future prices, and corrected ones.
        With `at`, a time or a position of the log, only what was known then.

        :param provider: The provider's key.
        :param model: The model's name.
        :param at: A log position or a time: answer as of then.
        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        """
        return Pages(
            self._caller,
            operations.GET_PRICES,
            PriceHistory,
            Paging("prices", "after", cursor=("end_cursor",), more=()),
            query={
                "provider": provider,
                "model": model,
                "at": at,
                "limit": limit,
                "after": after,
            },
        )

    def end(
        self,
        model_id: UUID | str,
        price_version: int,
        *,
        effective_until: datetime | None | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> PricedModel:
        """End a price.

        It ends now by default, or at `effective_until`, past or future. A price that
        ends where it starts is never effective: this withdraws a future price.

        :param price_version: The version that recorded the price, from its history.
        :param effective_until: When it ends; by default now.
        """
        return self._caller.model(
            operations.POST_PRICE_END,
            PricedModel,
            path={"model_id": model_id, "price_version": price_version},
            body={"effective_until": effective_until},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def correct(
        self,
        model_id: UUID | str,
        price_version: int,
        *,
        input_price_per_1m: Decimal | int | str | None | NotGiven = NOT_GIVEN,
        output_price_per_1m: Decimal | int | str | None | NotGiven = NOT_GIVEN,
        cache_creation_price_per_1m: Decimal | int | str | None | NotGiven = NOT_GIVEN,
        cache_read_price_per_1m: Decimal | int | str | None | NotGiven = NOT_GIVEN,
        currency: Literal[
            "AED",
            "AFN",
            "ALL",
            "AMD",
            "AOA",
            "ARS",
            "AUD",
            "AWG",
            "AZN",
            "BAM",
            "BBD",
            "BDT",
            "BHD",
            "BIF",
            "BMD",
            "BND",
            "BOB",
            "BRL",
            "BSD",
            "BTN",
            "BWP",
            "BYN",
            "BZD",
            "CAD",
            "CDF",
            "CHF",
            "CLP",
            "CNY",
            "COP",
            "CRC",
            "CUP",
            "CVE",
            "CZK",
            "DJF",
            "DKK",
            "DOP",
            "DZD",
            "EGP",
            "ERN",
            "ETB",
            "EUR",
            "FJD",
            "FKP",
            "GBP",
            "GEL",
            "GHS",
            "GIP",
            "GMD",
            "GNF",
            "GTQ",
            "GYD",
            "HKD",
            "HNL",
            "HTG",
            "HUF",
            "IDR",
            "ILS",
            "INR",
            "IQD",
            "IRR",
            "ISK",
            "JMD",
            "JOD",
            "JPY",
            "KES",
            "KGS",
            "KHR",
            "KMF",
            "KPW",
            "KRW",
            "KWD",
            "KYD",
            "KZT",
            "LAK",
            "LBP",
            "LKR",
            "LRD",
            "LSL",
            "LYD",
            "MAD",
            "MDL",
            "MGA",
            "MKD",
            "MMK",
            "MNT",
            "MOP",
            "MRU",
            "MUR",
            "MVR",
            "MWK",
            "MXN",
            "MYR",
            "MZN",
            "NAD",
            "NGN",
            "NIO",
            "NOK",
            "NPR",
            "NZD",
            "OMR",
            "PAB",
            "PEN",
            "PGK",
            "PHP",
            "PKR",
            "PLN",
            "PYG",
            "QAR",
            "RON",
            "RSD",
            "RUB",
            "RWF",
            "SAR",
            "SBD",
            "SCR",
            "SDG",
            "SEK",
            "SGD",
            "SHP",
            "SLE",
            "SOS",
            "SRD",
            "SSP",
            "STN",
            "SVC",
            "SYP",
            "SZL",
            "THB",
            "TJS",
            "TMT",
            "TND",
            "TOP",
            "TRY",
            "TTD",
            "TWD",
            "TZS",
            "UAH",
            "UGX",
            "USD",
            "UYU",
            "UZS",
            "VED",
            "VES",
            "VND",
            "VUV",
            "WST",
            "XAF",
            "XCD",
            "XCG",
            "XOF",
            "XPF",
            "YER",
            "ZAR",
            "ZMW",
            "ZWG",
        ]
        | NotGiven = NOT_GIVEN,
        notes: str | None | NotGiven = NOT_GIVEN,
        structure: StructureBody | None | NotGiven = NOT_GIVEN,
        effective_from: datetime | None | NotGiven = NOT_GIVEN,
        effective_until: datetime | None | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> PricedModel:
        """Correct a price.

        State the actual price, for the whole period or for the part between the bounds.
        The earlier record can still be read with `at`.

        :param price_version: The version that recorded the price, from its history.
        :param input_price_per_1m: Price of 1,000,000 tokens of prompts; 0 is free, left
            out or null is unknown.
        :param output_price_per_1m: Price of 1,000,000 tokens of output; 0 is free, left
            out or null is unknown.
        :param cache_creation_price_per_1m: Price of 1,000,000 tokens written to a
            cache; 0 is free, left out or null is unknown.
        :param cache_read_price_per_1m: Price of 1,000,000 tokens read from a cache; 0
            is free, left out or null is unknown.
        :param currency: The currency, as its ISO 4217 code.
        :param notes: A remark, such as where the price is from.
        :param structure: All rates of a price with more than these four: tiers by
            length of the prompt, times of day, units such as audio, service tiers.
        :param effective_from: When it becomes effective; by default now, or when the
            corrected price did.
        :param effective_until: When it ends; by default when the next one begins, or
            when the corrected price did.
        """
        return self._caller.model(
            operations.POST_PRICE_CORRECTION,
            PricedModel,
            path={"model_id": model_id, "price_version": price_version},
            body={
                "input_price_per_1m": input_price_per_1m,
                "output_price_per_1m": output_price_per_1m,
                "cache_creation_price_per_1m": cache_creation_price_per_1m,
                "cache_read_price_per_1m": cache_read_price_per_1m,
                "currency": currency,
                "notes": notes,
                "structure": structure,
                "effective_from": effective_from,
                "effective_until": effective_until,
            },
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def reprice_sessions(
        self,
        from_time: datetime,
        until_time: datetime,
        *,
        agent_id: UUID | str | None | NotGiven = NOT_GIVEN,
        provider: str | None | NotGiven = NOT_GIVEN,
        model: str | None | NotGiven = NOT_GIVEN,
        dry_run: bool | NotGiven = NOT_GIVEN,
        after: After | None | NotGiven = NOT_GIVEN,
    ) -> RepricingReport:
        """Reprice recorded turns.

        Turns that start in the period, from `from_time` until before `until_time`, get
        the cost that the price catalog has for their start now, after corrections and
        late imports. By default nothing is changed: `dry_run` false records the new
        costs. A request takes up to 500 turns, fewer if they have many model calls;
        while `next` isn't null, send it as `after` for the following ones. The turns of
        a session change together; a repeated request changes nothing. `provider` and
        `model` select the turns in which one of the calls names them.

        :param from_time: Turns that started at or after this time.
        :param until_time: Turns that started before this time.
        :param provider: The provider's key, such as `openai`.
        :param model: The model's name, as its provider has it.
        :param dry_run: Report the changes without making them.
        :param after: `next` of the previous answer.
        """
        return self._caller.model(
            operations.POST_REPRICE,
            RepricingReport,
            body={
                "from_time": from_time,
                "until_time": until_time,
                "agent_id": agent_id,
                "provider": provider,
                "model": model,
                "dry_run": dry_run,
                "after": after,
            },
        )

    def import_genai_prices(
        self,
        *,
        dry_run: bool | NotGiven = NOT_GIVEN,
        confirm: str | NotGiven = NOT_GIVEN,
        undated_since: datetime | NotGiven = NOT_GIVEN,
    ) -> ImportReport:
        """Import the prices of the installed package genai-prices.

        With `dry_run` nothing is changed; the answer is the same. A repeated import
        changes nothing. These changes are held back until `confirm` lists their models
        as `provider/model`, separated by commas, or is `all`: a price that rises or
        falls more than fivefold or becomes 0, also of cached, long or batched model
        calls or at some hours; one that is dropped, of any unit or condition; a price
        by which a usual model call, or some tokens, seconds or images alone, cost more
        than 10; a change in the past, and a change of a price that has ended or came
        from another list. A price that has a start in the list ends an open one there
        without confirmation, also in the past. Prices set by hand are never
        overwritten. Models that the list no longer contains are only reported. A price
        without a date is effective from `undated_since`, by default from now.

        :param dry_run: Report the changes without making them.
        :param confirm: Models whose changes are made although they were held back, as
            `provider/model`, separated by commas, or `all`.
        :param undated_since: From when prices without a date are effective; by default
            now.
        """
        return self._caller.model(
            operations.POST_GENAI_PRICES_IMPORT,
            ImportReport,
            query={
                "dry_run": dry_run,
                "confirm": confirm,
                "undated_since": undated_since,
            },
        )

    def import_litellm(
        self,
        content: bytes,
        *,
        dry_run: bool | NotGiven = NOT_GIVEN,
        confirm: str | NotGiven = NOT_GIVEN,
        undated_since: datetime | NotGiven = NOT_GIVEN,
        version: str | NotGiven = NOT_GIVEN,
    ) -> ImportReport:
        """Import a LiteLLM price file.

        Takes an unchanged `model_prices_and_context_window.json` of up to 16 MiB. The
        file has no version: name its release or commit in `version`. Everything else is
        as for the import of genai-prices.

        :param dry_run: Report the changes without making them.
        :param confirm: Models whose changes are made although they were held back, as
            `provider/model`, separated by commas, or `all`.
        :param undated_since: From when prices without a date are effective; by default
            now.
        :param version: The release or commit that the file is from.
        """
        return self._caller.model(
            operations.POST_LITELLM_IMPORT,
            ImportReport,
            query={
                "dry_run": dry_run,
                "confirm": confirm,
                "undated_since": undated_since,
                "version": version,
            },
            content=content,
        )
