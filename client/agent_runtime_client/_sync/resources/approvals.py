"""Tool calls that a person is asked about."""
# Made by "make generated"; do not edit.

from typing import Literal
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client._sync.pages import Pages, Paging
from agent_runtime_client.models import (
    ApprovalList,
    ApprovalResource,
    ApprovalWithArguments,
    ListedApproval,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class ApprovalsResource:
    """Tool calls that a person is asked about."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get(
        self, agent_id: UUID | str, approval_id: UUID | str
    ) -> ApprovalWithArguments:
        """Get the approval of a call, with the call's arguments.

        For the agent's managers, the connector's owner and superusers. That the
        arguments are shown is recorded first.
        """
        return self._caller.model(
            operations.GET_APPROVAL,
            ApprovalWithArguments,
            path={"agent_id": agent_id, "approval_id": approval_id},
        )

    def approve(
        self,
        agent_id: UUID | str,
        approval_id: UUID | str,
        *,
        reason: str | None | NotGiven = NOT_GIVEN,
        valid_for_s: int | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ApprovalResource:
        """Approve a call of an agent, once.

        For the agent's managers, the connector's owner and superusers. The agent makes
        the call by repeating it with the same arguments; everything else is decided
        again then.

        :param reason: Reason, shown to the agent and recorded.
        :param valid_for_s: For how long the call may be made, in seconds: from 60, a
            minute, to 86400, a day.
        """
        return self._caller.model(
            operations.POST_APPROVAL_APPROVE,
            ApprovalResource,
            path={"agent_id": agent_id, "approval_id": approval_id},
            body={"reason": reason, "valid_for_s": valid_for_s},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def refuse(
        self,
        agent_id: UUID | str,
        approval_id: UUID | str,
        *,
        reason: str | None | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ApprovalResource:
        """Refuse a call of an agent.

        For the agent's managers, the connector's owner and superusers. The agent is
        told so until the question would have expired.

        :param reason: Reason, shown to the agent and recorded.
        """
        return self._caller.model(
            operations.POST_APPROVAL_REFUSE,
            ApprovalResource,
            path={"agent_id": agent_id, "approval_id": approval_id},
            body={"reason": reason},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def withdraw(
        self,
        agent_id: UUID | str,
        approval_id: UUID | str,
        *,
        reason: str | None | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ApprovalResource:
        """Withdraw the approval of a call that was not made yet, or the question.

        For the agent's managers, the connector's owner and superusers. The agent is
        told so.

        :param reason: Reason, shown to the agent and recorded.
        """
        return self._caller.model(
            operations.POST_APPROVAL_WITHDRAW,
            ApprovalResource,
            path={"agent_id": agent_id, "approval_id": approval_id},
            body={"reason": reason},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        after: int | NotGiven = NOT_GIVEN,
        agent_id: UUID | str | NotGiven = NOT_GIVEN,
        connector_id: UUID | str | NotGiven = NOT_GIVEN,
        state: Literal["pending", "approved", "refused", "withdrawn", "expired", "used"]
        | NotGiven = NOT_GIVEN,
    ) -> Pages[ListedApproval, ApprovalList]:
        """List the approvals that agents ask for, latest first: the inbox.

        Those of agents that the caller manages, of connectors that the caller owns, and
        those of calls for the caller; superusers and auditors see all. Once for each
        time that a call was asked for. `state=pending` leaves those that wait for a
        person.

        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        :param agent_id: Limits the list to this agent.
        :param connector_id: Limits the list to this connector.
        :param state: Limits the list to this state.
        """
        return Pages(
            self._caller,
            operations.GET_APPROVALS,
            ApprovalList,
            Paging("approvals", "after", cursor=("end_cursor",), more=()),
            query={
                "limit": limit,
                "after": after,
                "agent_id": agent_id,
                "connector_id": connector_id,
                "state": state,
            },
        )
