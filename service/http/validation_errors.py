"""Validation errors as problems of the API, which never quote a value."""

import re
from collections.abc import Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from service.errors import Problem

PROBLEMS_MAX = 100
HIDDEN_NAME: Final = "(name not shown)"
UNKNOWN: Final = "unknown; the operation doesn't take this"
OTHER_FORM: Final = "does not have the form that /openapi.json describes"

# By pydantic's type of error; completed with the limits that were broken.
MESSAGES: Final = {
    "missing": "required",
    "extra_forbidden": UNKNOWN,
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "date_from_datetime_parsing": "must be an ISO 8601 date",
    "date_parsing": "must be an ISO 8601 date",
    "date_type": "must be an ISO 8601 date",
    "datetime_from_date_parsing": "must be an ISO 8601 time",
    "datetime_object_invalid": "must be an ISO 8601 time",
    "datetime_parsing": "must be an ISO 8601 time",
    "datetime_type": "must be an ISO 8601 time",
    "decimal_max_digits": "must have at most {max_digits} digits",
    "decimal_max_places": "must have at most {decimal_places} decimal places",
    "decimal_parsing": "must be a decimal number",
    "decimal_type": "must be a decimal number",
    "decimal_whole_digits": "must have at most {whole_digits} digits before the point",
    "dict_type": "must be an object",
    "enum": "must be {expected}",
    "finite_number": "must be a finite number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of fewer digits",
    "int_type": "must be a whole number",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "model_attributes_type": "must be an object",
    "model_type": "must be an object",
    "none_required": "must be null",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_type": "must be text",
    "string_unicode": "must be text in UTF-8",
    "too_long": "must have at most {max_length} items",
    "too_short": "must have at least {min_length} items",
    "union_tag_invalid": "has an unknown tag",
    "union_tag_not_found": "has no tag",
    "uuid_parsing": "must be a UUID",
    "uuid_type": "must be a UUID",
    "uuid_version": "must be a UUID",
}
_FORMS: dict[str, str] = {}


def explained(pattern: str, message: str) -> str:
    """Return a pattern, after adding the message to send in place of it."""
    _FORMS[pattern] = message
    return pattern


def problems_of(error: ValidationError, *, names_shown: bool = True) -> list[Problem]:
    """Return the problems; ``names_shown`` False hides the names of unknown fields."""
    found = error.errors(include_url=False, include_input=False)
    return [
        Problem(_path(each, names_shown=names_shown), message_of(each))
        for each in found[:PROBLEMS_MAX]
    ]


def message_of(error: Any) -> str:
    """Return the message of one of a ValidationError's errors, without its input."""
    kind, context = error["type"], error.get("ctx", {})
    # Those of our own.
    if "words" in context:
        return str(context["words"])
    if kind == "string_pattern_mismatch":
        return _FORMS.get(context["pattern"], OTHER_FORM)
    if kind == "value_error":
        return str(context["error"])
    if kind in MESSAGES:
        return MESSAGES[kind].format(**context)
    return OTHER_FORM


def fault_at(field: str, message: str) -> PydanticCustomError:
    """Return the error of a check over several fields that names one of them."""
    return PydanticCustomError(
        "of_field", "{words}", {"field": field, "words": message}
    )


def _path(error: Any, *, names_shown: bool) -> str:
    location = error["loc"]
    if error["type"] == "of_field":
        location = (*location, error["ctx"]["field"])
    if error["type"] == "extra_forbidden":
        name = shown_name(str(location[-1])) if names_shown else HIDDEN_NAME
        location = (*location[:-1], name)
    return path_of(location)


def path_of(location: Sequence[str | int]) -> str:
    """Return a location as text, such as ``rules[3].stance``."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            name = part if _FIELD.fullmatch(part) else shown_name(part)
            path += f".{name}" if path else name
    return path


def shown_name(name: str) -> str:
    """Return a name that came from the caller, unless it could hold a secret."""
    return name if name == HIDDEN_NAME or _NAME.fullmatch(name) else HIDDEN_NAME


# No digits, which nearly every token has.
_NAME = re.compile(r"[A-Za-z][A-Za-z_-]{0,39}")
# A field of ours may have one, as input_price_per_1m.
_FIELD = re.compile(r"[a-z][a-z_]{0,29}[0-9]?[a-z_]{0,9}")
