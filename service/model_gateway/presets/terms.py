"""What a preset says, as its events hold it."""

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from typing_extensions import TypedDict

from service.events import Id, Named

GROUPS_MAX: Final = 8
TARGETS_MAX: Final = 16
PUBLIC: Final = "public"


class PresetTarget(TypedDict):
    """A connection, and the model that it is asked for.

    Among the targets of a group, one gets calls in proportion to its ``weight``.
    ``context_window`` is in tokens, null where it isn't known.
    """

    connection_id: Id
    model: str
    weight: int
    context_window: int | None


class PresetGroup(TypedDict):
    """Targets that stand beside each other."""

    targets: list[PresetTarget]


class PresetTerms(TypedDict):
    """Groups in order: the next one is tried where one can't answer.

    ``attempts`` bounds how many targets a call tries. Each ``_s`` is in seconds. A
    session stays with its target for ``sticky_s`` after its last call, 0 for never.
    ``fall_back_on`` are the statuses of a target that send a call to the next one.
    """

    name: str
    description: str
    visibility: Literal["private", "public"]
    groups: list[PresetGroup]
    attempts: int
    total_timeout_s: int
    first_byte_timeout_s: int
    idle_timeout_s: int
    sticky_s: int
    fall_back_on: list[int]


def targets_of(terms: PresetTerms) -> Iterator[tuple[str, PresetTarget]]:
    """Yield the path of each target, as a problem names it, and the target."""
    for number, group in enumerate(terms["groups"]):
        for place, target in enumerate(group["targets"]):
            yield f"groups[{number}].targets[{place}]", target


def texts_of(terms: PresetTerms, named: Named = str) -> Mapping[str, str]:
    """Return the terms as they are named and written in a sentence."""
    groups = (
        " + ".join(_target_text(each, named) for each in group["targets"])
        for group in terms["groups"]
    )
    return {
        "name": terms["name"],
        "description": terms["description"],
        "visibility": terms["visibility"],
        "targets": ", then ".join(groups),
        "attempts": str(terms["attempts"]),
        "total timeout": f"{terms['total_timeout_s']} s",
        "timeout of the first byte": f"{terms['first_byte_timeout_s']} s",
        "idle timeout": f"{terms['idle_timeout_s']} s",
        "sticky for": f"{terms['sticky_s']} s",
        "falls back on": ", ".join(map(str, terms["fall_back_on"])),
    }


def _target_text(target: PresetTarget, named: Named) -> str:
    window = target["context_window"]
    tokens = f", {window} tokens" if window is not None else ""
    return (
        f"{target['model']} of {named(target['connection_id'])} "
        f"(weight {target['weight']}{tokens})"
    )
