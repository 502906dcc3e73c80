"""Authenticate a bearer token against the log."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from service.errors import UnauthenticatedError
from service.event_log.log import EventLog
from service.principal import Principal
from service.users.aggregate import Token, User, token_id
from service.users.tokens import is_well_formed

TokenHash = Callable[[str], bytes]
SCHEME = "bearer"
REMEMBERED_MAX = 10_000


class TokenAuthenticator:
    """Reads tokens and users from the log, never from a read table."""

    def __init__(self, log: EventLog, token_hash: TokenHash) -> None:
        self._log = log
        self._token_hash = token_hash
        self._remembered: OrderedDict[str, _Proof] = OrderedDict()

    async def authenticate(self, header: str | None) -> Principal:
        """Return who is calling.

        :raises UnauthenticatedError: the same for a missing, malformed, unknown and
            revoked token, so that a guess learns nothing
        """
        principal = self.recall(header)
        if principal is not None:
            return principal
        proof = await self._prove(header)
        self._remembered[header or ""] = proof
        if len(self._remembered) > REMEMBERED_MAX:
            self._remembered.popitem(last=False)
        return proof.principal

    def recall(self, header: str | None) -> Principal | None:
        """Return who was found to be calling with a header, while that stands."""
        remembered = self._remembered.get(header or "")
        if remembered is not None and remembered.still_stands(self._log):
            return remembered.principal
        return None

    async def _prove(self, header: str | None) -> "_Proof":
        scheme, _, token = (header or "").partition(" ")
        token = token.strip()
        if scheme.lower() != SCHEME or not is_well_formed(token):
            raise _refusal(header)
        issued = await self._log.load(token_id(self._token_hash(token)))
        if not isinstance(issued, Token) or issued.is_revoked:
            raise _refusal(header)
        user = await self._log.load(UUID(issued.user_id))
        if not isinstance(user, User):
            raise _refusal(header)
        return _Proof(
            token=issued,
            user=user,
            principal=Principal(
                user_id=user.id,
                name=user.name,
                roles=frozenset(user.roles),
                token_id=issued.id,
                facts={issued.id: issued.version, user.id: user.version},
            ),
        )


@dataclass(frozen=True, slots=True)
class _Proof:
    """What a header proved, as long as both aggregates are the log's current ones."""

    token: Token
    user: User
    principal: Principal

    def still_stands(self, log: EventLog) -> bool:
        return (
            log.cache.get(self.token.id) is self.token
            and log.cache.get(self.user.id) is self.user
        )


def _refusal(header: str | None) -> UnauthenticatedError:
    challenge = 'Bearer realm="agent-runtime"'
    if header is not None:
        challenge += ', error="invalid_token"'
    return UnauthenticatedError(
        "a valid bearer token is required", headers={"WWW-Authenticate": challenge}
    )
