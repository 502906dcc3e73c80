"""The deployed alert rules, and the same ones in a shorter time."""

import re
from dataclasses import dataclass
from typing import Any, Final

import yaml

from tests.support.project import ROOT

RULES: Final = ROOT / "deploy/prometheus/rules.yaml"
UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
# After for:, in a range, after offset; and a number of minutes in an expression.
DURATION: Final = re.compile(
    r"(?P<before>\bfor: |\[|\boffset )(?P<number>\d+)(?P<unit>[smhd])\b"
)
MINUTES: Final = re.compile(r"\b(\d+) \* 60\b")


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert of the rules; ``lasts`` is its ``for``, empty without one."""

    name: str
    lasts: str


def alerts(rules: str) -> list[Alert]:
    groups: list[dict[str, Any]] = yaml.safe_load(rules)["groups"]
    return [
        Alert(rule["alert"], rule.get("for", ""))
        for group in groups
        for rule in group["rules"]
        if "alert" in rule
    ]


def scaled(rules: str, scale: int) -> str:
    """Divide every duration of the rules; thresholds stay as they are."""

    def divided(found: re.Match[str]) -> str:
        ms = int(found["number"]) * UNITS[found["unit"]] * 1000 // scale
        return f"{found['before']}{ms}ms"

    shorter = DURATION.sub(divided, rules)
    return MINUTES.sub(lambda found: f"{int(found[1]) * 60 / scale:g}", shorter)
