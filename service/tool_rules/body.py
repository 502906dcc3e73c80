"""The request body of operation 1, and its validation."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import InitErrorDetails, PydanticCustomError

from service.http.requests import RequestModel
from service.http.validation_errors import explained, message_of
from service.tool_rules.decision import Stance

RULES_MAX = 1000
PATTERN_CHARACTERS = r"[A-Za-z0-9_.\-/:*?]"
PATTERN_CHARACTERS_MAX = 256

Stated = tuple[int, UUID, str, str]
"""Index, connector, pattern and stance of a rule."""


class ToolRuleBody(RequestModel):
    """A stance on the tools of a connector whose whole name matches the pattern."""

    connector_id: UUID
    tool_pattern: Annotated[
        str,
        Field(
            min_length=1,
            max_length=PATTERN_CHARACTERS_MAX,
            pattern=explained(
                f"^{PATTERN_CHARACTERS}*$",
                "must have only characters of A-Z a-z 0-9 _ . - / : * ?",
            ),
            description=(
                "`*` stands for any run of characters, also none, and `?` for any "
                "one; case matters."
            ),
        ),
    ]
    stance: Stance


def _without_contradictions(
    given: Any, validate: ValidatorFunctionWrapHandler
) -> list[ToolRuleBody]:
    try:
        rules: list[ToolRuleBody] = validate(given)
    except ValidationError as error:
        known = [
            _detail(each["loc"], each["type"], message_of(each))
            for each in error.errors(include_url=False, include_input=False)
        ]
        raise _refusal([*known, *_contradictions(_readable(given))]) from None
    subjects = {(rule.connector_id.int, rule.tool_pattern) for rule in rules}
    if len(subjects) == len(rules):
        return rules
    stated = (
        (number, rule.connector_id, rule.tool_pattern, rule.stance)
        for number, rule in enumerate(rules)
    )
    if contradictions := _contradictions(stated):
        raise _refusal(contradictions)
    return rules


class BulkToolUpdate(RequestModel):
    """The complete rules of every connector that they name.

    An empty list removes all rules of the agent.
    """

    rules: Annotated[
        list[ToolRuleBody],
        Field(max_length=RULES_MAX),
        WrapValidator(_without_contradictions),
    ]


def _contradictions(rules: Iterable[Stated]) -> list[InitErrorDetails]:
    """Find rules that give a connector and pattern another stance than before."""
    first: dict[tuple[UUID, str], tuple[int, str]] = {}
    found: list[InitErrorDetails] = []
    for number, connector_id, pattern, stance in rules:
        earlier, said = first.setdefault((connector_id, pattern), (number, stance))
        if said != stance:
            words = f"rules[{earlier}] gives this connector and pattern another stance"
            found.append(_detail((number, "stance"), "contradiction", words))
    return found


def _readable(given: Any) -> Iterator[Stated]:
    """Yield the comparable rules of a batch that may contain invalid ones."""
    for number, rule in enumerate(given if isinstance(given, list) else ()):
        match rule:
            case {
                "connector_id": str(connector_id),
                "tool_pattern": str(pattern),
                "stance": str(stance),
            }:
                try:
                    yield number, UUID(connector_id), pattern, stance
                except ValueError:
                    continue


def _detail(location: tuple[str | int, ...], kind: str, words: str) -> InitErrorDetails:
    error = PydanticCustomError(kind, "{words}", {"words": words})
    return InitErrorDetails(type=error, loc=location, input=None)


def _refusal(details: list[InitErrorDetails]) -> ValidationError:
    return ValidationError.from_exception_data("rules", details, hide_input=True)
