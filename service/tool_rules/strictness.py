"""Refuse rules that have warnings, for callers who ask for that."""

from collections.abc import Callable, Sequence

from service.errors import InvalidRequestError, Problem
from service.tool_rules.resource import ToolRuleWarning


def refuse_warnings(
    warnings: Sequence[ToolRuleWarning], place: Callable[[ToolRuleWarning], str]
) -> None:
    """Refuse a change that would be answered with warnings.

    ``place`` says where in the request the cause of a warning is.

    :raises InvalidRequestError: there are warnings
    """
    if warnings:
        raise InvalidRequestError(
            "the rules have warnings, which Prefer: handling=strict refuses; nothing "
            "was recorded",
            code="rule_warnings",
            problems=[Problem(place(each), each["message"]) for each in warnings],
        )
