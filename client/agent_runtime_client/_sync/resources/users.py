"""Users, their roles and their tokens."""
# Made by "make generated"; do not edit.

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client._sync.pages import Pages, Paging
from agent_runtime_client.models import (
    DestroyedKey,
    FoundUser,
    IssuedToken,
    Me,
    Role,
    Token,
    TokenList,
    User,
    UserList,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class UsersResource:
    """Users, their roles and their tokens."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(
        self,
        name: str,
        *,
        roles: Sequence[Role] | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> User:
        """Create a user.

        For superusers. The name is stored under the user's key and can be changed.
        Tokens are issued separately.

        :param roles: Permissions beyond the user's own resources.
        """
        return self._caller.model(
            operations.POST_USER,
            User,
            body={"name": name, "roles": roles},
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        after: UUID | str | NotGiven = NOT_GIVEN,
    ) -> Pages[User, UserList]:
        """List all users, in the order in which they were created.

        For superusers and auditors.

        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        """
        return Pages(
            self._caller,
            operations.GET_USERS,
            UserList,
            Paging("users", "after", cursor=("end_cursor",), more=()),
            query={"limit": limit, "after": after},
        )

    def grant_role(
        self,
        user_id: UUID | str,
        role: Literal["superuser", "auditor", "runtime"],
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> User:
        """Grant a role to a user.

        For superusers. It applies from the user's next request on.

        :param role: A permission beyond a user's own resources. A superuser may do
            everything except read other users' secret values; an auditor reads history
            and lists and changes nothing; a runtime records sessions of any agent.
        """
        return self._caller.model(
            operations.PUT_USER_ROLE,
            User,
            path={"user_id": user_id, "role": role},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def revoke_role(
        self,
        user_id: UUID | str,
        role: Literal["superuser", "auditor", "runtime"],
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> User:
        """Revoke a role of a user.

        For superusers. Superusers can't revoke their own role superuser, so one always
        remains.

        :param role: A permission beyond a user's own resources. A superuser may do
            everything except read other users' secret values; an auditor reads history
            and lists and changes nothing; a runtime records sessions of any agent.
        """
        return self._caller.model(
            operations.DELETE_USER_ROLE,
            User,
            path={"user_id": user_id, "role": role},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def set_name(
        self,
        user_id: UUID | str,
        name: str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> User:
        """Rename a user.

        For superusers. The id stays, and the earlier name stays reserved for the user.
        """
        return self._caller.model(
            operations.PUT_USER_NAME,
            User,
            path={"user_id": user_id},
            body={"name": name},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        user_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> User:
        """Erase a user.

        For superusers. Irreversibly disables the user and destroys their key: their
        name, the values of their secrets and the texts of their sessions become
        unreadable. What they did stays in the log, under their id. Repeat the call if
        it fails: only a success confirms that the key is destroyed.
        """
        return self._caller.model(
            operations.DELETE_USER,
            User,
            path={"user_id": user_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def get(self, user_id: UUID | str) -> User:
        """Get a user.

        Superusers and auditors see all users, others only themselves.
        """
        return self._caller.model(operations.GET_USER, User, path={"user_id": user_id})

    def disable(
        self,
        user_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> User:
        """Disable a user.

        For superusers. None of the user's tokens is accepted from then on; requests
        that haven't been committed yet fail, and their streams and exports end. What
        the user owns and manages stays.
        """
        return self._caller.model(
            operations.PUT_USER_DISABLED,
            User,
            path={"user_id": user_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def enable(
        self,
        user_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> User:
        """Enable a disabled user.

        For superusers. Those of the user's tokens that are still valid are accepted
        again.
        """
        return self._caller.model(
            operations.DELETE_USER_DISABLED,
            User,
            path={"user_id": user_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def issue_token(
        self,
        user_id: UUID | str,
        label: str,
        *,
        expires_at: datetime | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> IssuedToken:
        """Issue a token.

        For the caller, or for any user if the caller is a superuser. The answer
        contains the token. The service stores only a hash of it, so the token is shown
        again only to a repeated request with the same Idempotency-Key. A user has at
        most 100 valid tokens.

        :param label: Says what the token is for, such as `laptop`.
        :param expires_at: Without it, the token is valid until it is revoked.
        """
        return self._caller.model(
            operations.POST_USER_TOKEN,
            IssuedToken,
            path={"user_id": user_id},
            body={"label": label, "expires_at": expires_at},
            idempotency_key=idempotency_key,
        )

    def list_tokens(
        self,
        user_id: UUID | str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        after: UUID | str | NotGiven = NOT_GIVEN,
    ) -> Pages[Token, TokenList]:
        """List a user's tokens, latest first.

        The caller's own, or any user's for superusers and auditors. The tokens
        themselves can't be read.

        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        """
        return Pages(
            self._caller,
            operations.GET_USER_TOKENS,
            TokenList,
            Paging("tokens", "after", cursor=("end_cursor",), more=()),
            path={"user_id": user_id},
            query={"limit": limit, "after": after},
        )

    def revoke_token(
        self,
        user_id: UUID | str,
        token_id: UUID | str,
        *,
        idempotency_key: str | None = None,
    ) -> Token:
        """Revoke a token.

        The caller's own, or any user's for superusers. The token is rejected from the
        next request on; commands that haven't been committed yet fail, too.
        """
        return self._caller.model(
            operations.DELETE_USER_TOKEN,
            Token,
            path={"user_id": user_id, "token_id": token_id},
            idempotency_key=idempotency_key,
        )

    def me(self) -> Me:
        """Get the calling user.

        Read from the event log: roles are always current.
        """
        return self._caller.model(operations.GET_ME, Me)

    def get_by_name(self, user_name: str) -> FoundUser:
        """Look up a user's id by their name.

        For superusers, auditors and everybody who manages an agent, so that they can
        appoint other managers and readers. Limited to 60 calls at once, then one per
        second. A user who was renamed is found by earlier names, too.

        :param user_name: The user's name.
        """
        return self._caller.model(
            operations.GET_USER_BY_NAME, FoundUser, path={"user_name": user_name}
        )

    def destroy_key(
        self, user_id: UUID | str, *, idempotency_key: str | None = None
    ) -> DestroyedKey:
        """Destroy a user's key.

        Irreversibly makes all of the user's secret values and the texts of their
        sessions unreadable; nothing can be encrypted for them again. The log, replays
        and the audit trail keep working. Repeat the call if it fails: only a success
        confirms that the key is destroyed.
        """
        return self._caller.model(
            operations.DELETE_USER_KEY,
            DestroyedKey,
            path={"user_id": user_id},
            idempotency_key=idempotency_key,
        )
