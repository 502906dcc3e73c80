"""The preference of RFC 7240 that a command takes: ``Prefer: handling=strict``."""

import re
from typing import Final

from aiohttp import web

PREFER: Final = "Prefer"
STRICT: Final = "handling=strict"
APPLIED: Final = {"Preference-Applied": STRICT}

# A comma between quotes ends nothing; quotes that aren't closed go on to the end, so
# that no text is read twice.
_PREFERENCE: Final = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*(?:"|\\?$))+')
_VALUE: Final = re.compile(r'\s*handling\s*=\s*("?)([a-z]+)\1\s*(?:;|$)', re.IGNORECASE)


def prefers_strict(request: web.Request) -> bool:
    """Whether the caller prefers a refusal to an answer with warnings.

    The first ``handling`` counts; other preferences are ignored, as the RFC demands.
    """
    if PREFER not in request.headers:
        return False
    given = ",".join(request.headers.getall(PREFER))
    for preference in _PREFERENCE.findall(given):
        if found := _VALUE.match(preference):
            return found[2].lower() == "strict"
    return False
