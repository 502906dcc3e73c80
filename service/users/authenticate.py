"""Authenticate a bearer token against the log."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID
from weakref import ReferenceType, ref

from cachetools import LRUCache

from service.errors import UnauthenticatedError
from service.event_log.log import EventLog
from service.principal import Principal
from service.users.aggregate import Token, User, token_id
from service.users.tokens import PREFIX, is_well_formed

TokenHash = Callable[[str], bytes]
Clock = Callable[[], datetime]
SCHEME = "bearer"
PROOFS_MAX = 10_000


def _now() -> datetime:
    return datetime.now(UTC)


class TokenAuthenticator:
    """Reads tokens and users from the log, never from a read table."""

    def __init__(
        self,
        log: EventLog,
        token_hash: TokenHash,
        *,
        clock: Clock = _now,
    ) -> None:
        self._log = log
        self._token_hash = token_hash
        self._clock = clock
        self._proofs: LRUCache[str, _Proof] = LRUCache(PROOFS_MAX)

    async def authenticate(self, header: str | None) -> Principal:
        """Return the principal of an ``Authorization`` header.

        :raises UnauthenticatedError: the same for a missing, malformed, unknown,
            revoked and expired token, and for one of a disabled user, so that guessing
            reveals nothing
        """
        principal = self.recall(header)
        if principal is not None:
            return principal
        proof = await self._prove(header)
        self._proofs[header or ""] = proof
        return proof.principal

    def recall(self, header: str | None) -> Principal | None:
        """Return the cached principal of a header, unless token or user changed.

        Nor after the token has expired.
        """
        proof = self._proofs.get(header or "")
        if proof is not None and proof.is_current(self._log, self._clock):
            return proof.principal
        return None

    async def _prove(self, header: str | None) -> "_Proof":
        token = bearer_token(header)
        issued = await self._log.load(token_id(self._token_hash(token)))
        if not isinstance(issued, Token) or not issued.is_valid(self._clock()):
            raise refusal_of(header)
        user = await self._log.load(UUID(issued.user_id))
        if not isinstance(user, User) or user.is_disabled:
            raise refusal_of(header)
        return _Proof(
            token=ref(issued),
            user=ref(user),
            principal=Principal(
                user_id=user.id,
                roles=frozenset(user.roles),
                token_id=issued.id,
                facts={issued.id: issued.version, user.id: user.version},
            ),
        )


@dataclass(frozen=True, slots=True)
class _Proof:
    """The principal of a header; valid while both aggregates are the current ones.

    The references are weak: what leaves the log's cache is to leave memory.
    """

    token: ReferenceType[Token]
    user: ReferenceType[User]
    principal: Principal

    def is_current(self, log: EventLog, clock: Clock) -> bool:
        token, user = self.token(), self.user()
        return (
            token is not None
            and user is not None
            and token.is_valid(clock())
            and log.cache.get(token.id) is token
            and log.cache.get(user.id) is user
        )


def bearer_token(header: str | None, prefix: str = PREFIX) -> str:
    """Return the token of an ``Authorization`` header, in its form a valid one.

    :raises UnauthenticatedError: there is none, or not of this prefix
    """
    scheme, _, token = (header or "").partition(" ")
    token = token.strip()
    if scheme.lower() != SCHEME or not is_well_formed(token, prefix):
        raise refusal_of(header)
    return token


def refusal_of(header: str | None) -> UnauthenticatedError:
    challenge = 'Bearer realm="agent-runtime"'
    if header is not None:
        challenge += ', error="invalid_token"'
    return UnauthenticatedError(
        "a valid bearer token is required", headers={"WWW-Authenticate": challenge}
    )
