"""Pictures in SVG, made of boxes and lines of text."""

from xml.etree import ElementTree as ET  # it writes, and never parses


class Picture:
    """An SVG document; notebooks show it, ``str`` returns its text.

    Texts may come from users of the service: markup in them is escaped, and characters
    that aren't printable are replaced.
    """

    def __init__(self, width: int, height: int, title: str) -> None:
        self._root = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {width} {height}",
                "width": str(width),
                "height": str(height),
                "font-family": "sans-serif",
                "font-size": "12",
            },
        )
        _add(self._root, "title", title)
        self.box(0, 0, width, height, "white")
        self.text(10, 20, title)

    def box(
        self, x: int, y: int, width: int, height: int, colour: str, tooltip: str = ""
    ) -> None:
        """Draw a filled rectangle."""
        size = {"width": str(width), "height": str(height)}
        box = _add(self._root, "rect", x=str(x), y=str(y), fill=colour, **size)
        if tooltip:
            _add(box, "title", tooltip)

    def text(self, x: int, y: int, text: str) -> None:
        """Draw a line of text that begins at x; y is its baseline."""
        _add(self._root, "text", text, x=str(x), y=str(y))

    def __str__(self) -> str:
        return ET.tostring(self._root, encoding="unicode")

    def _repr_svg_(self) -> str:
        return str(self)


def shortened(text: str, length: int) -> str:
    """Return a printable text that fits, as ``long te…``."""
    text = printable(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def printable(text: str) -> str:
    """Replace control characters, which XML forbids and terminals obey."""
    return "".join(each if each.isprintable() else "\ufffd" for each in text)


def _add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, tag, attributes)
    element.text = printable(text)
    return element
