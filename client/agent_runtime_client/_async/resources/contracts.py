"""Contract prices: discounts and prices of one's own."""
# Made by "make generated"; do not edit.

from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client._async.pages import AsyncPages, Paging
from agent_runtime_client.models import (
    ContractPrices,
    ContractResource,
    KnownContract,
    StructureBody,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class AsyncContractsResource:
    """Contract prices: discounts and prices of one's own."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def set(
        self,
        provider: str,
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
        discount_percent: Decimal | int | str | None | NotGiven = NOT_GIVEN,
        model: str | None | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ContractResource:
        """Set a contract price: a discount, prices of one's own, or both.

        For a model of a provider, or without `model` a discount on all of them. Model
        calls that start in the period are charged by it: at the prices it fixes, and
        for everything else at the list price less the discount. A contract for the
        model comes before one for all models, whose discount counts if the former
        states none. The period is half-open and starts now by default; an earlier open
        one ends where it starts. Recorded costs stay until they are repriced. If-Match
        is the provider's version.

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
        :param discount_percent: Percent off every list price that the contract doesn't
            fix.
        :param provider: The provider's key, such as `openai`.
        :param model: The model's name, as its provider has it.
        """
        return await self._caller.model(
            operations.POST_CONTRACT,
            ContractResource,
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
                "discount_percent": discount_percent,
                "provider": provider,
                "model": model,
            },
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        provider: str | NotGiven = NOT_GIVEN,
        model: str | NotGiven = NOT_GIVEN,
        history: bool | NotGiven = NOT_GIVEN,
        at: int | datetime | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        after: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPages[KnownContract, ContractPrices]:
        """List contract prices.

        Past, present and future ones, of all providers or of `provider` and `model`, as
        they are known now or were known `at` a time or a position of the log; with
        `history`, also records that were corrected, replaced or ended since. In the
        order of recording.

        :param provider: Limits the list to this provider, by its key.
        :param model: Limits the list to this model.
        :param history: With records that were corrected, replaced or ended since.
        :param at: A log position or a time: answer as of then.
        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        """
        return AsyncPages(
            self._caller,
            operations.GET_CONTRACTS,
            ContractPrices,
            Paging("prices", "after", cursor=("end_cursor",), more=()),
            query={
                "provider": provider,
                "model": model,
                "history": history,
                "at": at,
                "limit": limit,
                "after": after,
            },
        )

    async def end(
        self,
        provider_id: UUID | str,
        price_version: int,
        *,
        effective_until: datetime | None | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ContractResource:
        """End a contract price.

        It ends now by default, or at `effective_until`, past or future. One that ends
        where it starts is never effective: this withdraws a future contract price.

        :param price_version: The version that recorded the price, from its history.
        :param effective_until: When it ends; by default now.
        """
        return await self._caller.model(
            operations.POST_CONTRACT_END,
            ContractResource,
            path={"provider_id": provider_id, "price_version": price_version},
            body={"effective_until": effective_until},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def correct(
        self,
        provider_id: UUID | str,
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
        discount_percent: Decimal | int | str | None | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ContractResource:
        """Correct a contract price.

        State the actual terms, for the whole period or for the part between the bounds.
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
        :param discount_percent: Percent off every list price that the contract doesn't
            fix.
        """
        return await self._caller.model(
            operations.POST_CONTRACT_CORRECTION,
            ContractResource,
            path={"provider_id": provider_id, "price_version": price_version},
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
                "discount_percent": discount_percent,
            },
            if_match=if_match,
            idempotency_key=idempotency_key,
        )
