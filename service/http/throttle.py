"""Rate limits against guessing tokens, and of operations that declare one."""

from dataclasses import dataclass, field
from ipaddress import IPv6Address
from uuid import UUID

from service.http.operation import Operation
from service.http.rate_limit import Buckets, RateLimit, too_many
from service.networks import parsed_address

REFUSED_TOKENS = RateLimit(burst=10, interval_s=10.0)
IPV6_SUBNET_BITS = 64


@dataclass(frozen=True, slots=True)
class Throttle:
    """The rate limits of one process.

    Only refused tokens are counted by address, so callers with a valid token are
    not slowed down by others. Behind a proxy that isn't trusted all callers share its
    address.
    """

    refused_tokens: Buckets = field(default_factory=lambda: Buckets(REFUSED_TOKENS))
    calls: dict[str, Buckets] = field(default_factory=dict)

    def count_refused_token(self, address: str | None) -> None:
        """Count a refused token.

        :raises TooManyRequestsError: too many came from this address
        """
        wait_s = self.refused_tokens.take(_source(address))
        if wait_s:
            raise too_many(
                "too many refused tokens from this address",
                "too_many_refused_tokens",
                wait_s,
            )

    def count_call(self, operation: Operation, user_id: UUID) -> None:
        """Count a call of an operation that declares a rate limit.

        :raises TooManyRequestsError: this user calls it too often
        """
        if operation.rate_limit is None:
            return
        buckets = self.calls.get(operation.name)
        if buckets is None:
            buckets = self.calls[operation.name] = Buckets(operation.rate_limit)
        wait_s = buckets.take(user_id)
        if wait_s:
            raise too_many("too many calls of this operation", "rate_limited", wait_s)


def _source(address: str | None) -> object:
    """Return the address, or the /64 subnet of an IPv6 address."""
    parsed = parsed_address(address or "")
    if isinstance(parsed, IPv6Address):
        return int(parsed) >> (parsed.max_prefixlen - IPV6_SUBNET_BITS)
    return parsed
