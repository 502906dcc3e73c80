"""Encrypted secrets of the calling user."""
# Made by "make generated"; do not edit.

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client._sync.pages import Pages, Paging
from agent_runtime_client.models import (
    ListedSecret,
    SecretList,
    SecretResource,
    SecretValue,
    SecretVersion,
    SecretWithVersions,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven
from agent_runtime_client.response import Response
from agent_runtime_client.secret import Secret


class SecretsResource:
    """Encrypted secrets of the calling user."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create(
        self, name: str, value: Secret | str, *, idempotency_key: str | None = None
    ) -> SecretResource:
        """Create a secret.

        It belongs to the caller; no other user can access it, whatever their roles.
        Only the answer to revealing it contains the value. The name of a deleted secret
        can be used again; version numbers continue.

        :param value: The secret's value.
        """
        return self._caller.model(
            operations.POST_SECRET,
            SecretResource,
            body={"name": name, "value": value},
            idempotency_key=idempotency_key,
        )

    def list(
        self, *, limit: int | NotGiven = NOT_GIVEN, after: str | NotGiven = NOT_GIVEN
    ) -> Pages[ListedSecret, SecretList]:
        """List the caller's secrets, by name.

        Nobody can list another user's secrets, whatever their roles.

        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        """
        return Pages(
            self._caller,
            operations.GET_SECRETS,
            SecretList,
            Paging("secrets", "after", cursor=("end_cursor",), more=()),
            query={"limit": limit, "after": after},
        )

    def set(
        self,
        name: str,
        value: Secret | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> SecretResource:
        """Overwrite the value of a secret.

        The caller must have a secret of this name; none is created. The last ten values
        are kept, older ones are destroyed. Every call creates a version, also with an
        equal value. The fingerprint is a keyed hash: it tells whether two values of one
        owner are equal, and nothing else about them.

        :param value: The secret's value.
        """
        return self._caller.model(
            operations.PUT_SECRET,
            SecretResource,
            path={"name": name},
            body={"value": value},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        name: str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Response:
        """Delete a secret.

        All of its values are destroyed. The history of the secret is kept.
        """
        return self._caller.response(
            operations.DELETE_SECRET_BY_NAME,
            path={"name": name},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def get(
        self,
        name: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        before: int | NotGiven = NOT_GIVEN,
    ) -> SecretWithVersions:
        """Get one of the caller's secrets with its versions, latest first.

        For every version: who set it, when, and whether its value still exists.
        ``before`` continues from ``end_cursor``.

        :param limit: Maximum number of items on the page.
        :param before: `end_cursor` of the previous page.
        """
        return self._caller.model(
            operations.GET_SECRET,
            SecretWithVersions,
            path={"name": name},
            query={"limit": limit, "before": before},
        )

    def list_versions(
        self,
        name: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        before: int | NotGiven = NOT_GIVEN,
    ) -> Pages[SecretVersion, SecretWithVersions]:
        """List the versions, across pages.

        ``get`` returns one page of them.

        :param limit: Maximum number of items on the page.
        :param before: `end_cursor` of the previous page.
        """
        return Pages(
            self._caller,
            operations.GET_SECRET,
            SecretWithVersions,
            Paging("versions", "before", cursor=("end_cursor",), more=()),
            path={"name": name},
            query={"limit": limit, "before": before},
        )

    def restore_version(
        self,
        name: str,
        version: int,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> SecretResource:
        """Restore an earlier value of a secret.

        Creates a new version with that value.

        :param version: The version's number.
        """
        return self._caller.model(
            operations.POST_SECRET_RESTORE,
            SecretResource,
            path={"name": name, "version": version},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def reveal(self, name: str, *, version: int | NotGiven = NOT_GIVEN) -> SecretValue:
        """Reveal the value of a secret.

        For its owner only. The access is recorded before the value is sent: this GET
        appends an event. ``version`` selects an earlier value. Limited to 60 calls at
        once, then one per second.

        :param version: By default the newest version.
        """
        return self._caller.model(
            operations.GET_SECRET_VALUE,
            SecretValue,
            path={"name": name},
            query={"version": version},
        )
