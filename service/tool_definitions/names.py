"""Names of tools that can be accepted, and that rules can match."""

import re
from typing import Final

NAME_CHARACTERS_MAX: Final = 128
# A name with an invisible or direction character looks like another one; rules match
# names of these characters, as the protocol recommends.
_NAME: Final = re.compile(rf"[A-Za-z0-9_.\-/:]{{1,{NAME_CHARACTERS_MAX}}}")


def is_acceptable_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None
