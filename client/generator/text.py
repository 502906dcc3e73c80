"""Wraps text in generated code."""

import textwrap
from collections.abc import Mapping
from typing import Final

WIDTH: Final = 88


def docstring(
    text: str, *, indent: int = 4, parameters: Mapping[str, str] | None = None
) -> str:
    """Return a docstring, wrapped by paragraph, with descriptions of parameters."""
    text = text.replace("\\", "\\\\").strip()
    width = WIDTH - indent
    paragraphs = [
        textwrap.fill(" ".join(each.split()), width, break_on_hyphens=False)
        for each in text.split("\n\n")
    ]
    joined = "\n\n".join(paragraphs)
    if not joined.endswith((".", "!", "?")):
        joined += "."
    if parameters:
        described = [
            textwrap.fill(
                f":param {name}: {' '.join(words.split())}",
                width,
                break_on_hyphens=False,
                subsequent_indent=" " * 4,
            )
            for name, words in parameters.items()
        ]
        joined += "\n\n" + "\n".join(described)
    if "\n" not in joined and len(joined) + 6 <= width:
        return f'"""{joined}"""'
    first = joined.partition("\n")[0]
    if len(first) + 3 > width:
        joined = (
            textwrap.fill(
                " ".join(paragraphs[0].split()), width - 3, break_on_hyphens=False
            )
            + joined[len(paragraphs[0]) :]
        )
    return f'"""{joined}\n"""'


def indented(text: str, by: int = 4) -> str:
    return textwrap.indent(text, " " * by)
