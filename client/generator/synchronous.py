"""Turns the asynchronous modules into the synchronous ones."""

import re
from typing import Final

NOTE: Final = '# Made by "make generated"; do not edit.'
# In this order.
REPLACEMENTS: Final = tuple(
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        (r"\b_async\b", "_sync"),
        (r"\basync (def|with|for)\b", r"\1"),
        (r"\bawait ", ""),
        (r"\bAsync(?!API)([A-Z]\w*)", r"\1"),
        (r"\baclosing\b", "closing"),
        (r"\b__a(enter|exit|iter|next)__\b", r"__\1__"),
        (r"\ba(close|read)\(", r"\1("),
        (r"\baiter_", "iter_"),
        (r"^import asyncio$", "import time"),
        (r"\basyncio\.sleep\b", "time.sleep"),
    )
)


def synchronous(module: str) -> str:
    """Return a module without async and await."""
    for pattern, replacement in REPLACEMENTS:
        module = pattern.sub(replacement, module)
    if NOTE in module:
        return module
    first, quotes, rest = module.partition('"""\n')
    return f"{first}{quotes}{NOTE}\n{rest}"
