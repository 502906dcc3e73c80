"""Lists of tools in memory: with the definitions that they share, bounded in bytes."""

import gc
from uuid import UUID, uuid4
from weakref import ref

from service.call_recording.modes import RecordMode
from service.event_log.history import History
from service.gateway.definition import ToolDefinition
from service.gateway.endpoint.catalog import ToolCatalog
from service.gateway.gate import ListedTool, ToolList, Upstream
from service.gateway.kept_lists import KeptList, KeptLists

BYTES_MAX = 1_000_000
CONNECTOR = Upstream(
    connector_id=uuid4(), url="https://t.example", mode=RecordMode.STRICT, version=1
)

HISTORY = History(UUID(int=0), "memory")


def defined(name: str, characters: int = 100) -> ToolDefinition:
    return ToolDefinition.of(
        {
            "name": name,
            "description": "x" * characters,
            "inputSchema": {"type": "object"},
        }
    )


def listed(*definitions: ToolDefinition) -> KeptList:
    tools = [
        ListedTool(connector=CONNECTOR, prefix="t", definition=each)
        for each in definitions
    ]
    return KeptList(
        history=HISTORY,
        listed=ToolList(tools),
        reads={UUID(int=1): 1},
        since=0.0,
    )


def test_lists_of_one_connector_share_its_definitions() -> None:
    kept = KeptLists(BYTES_MAX)
    shared = [defined(f"tool{number}", 2_000) for number in range(10)]

    kept.put((1, None), listed(*shared))
    of_one = kept.bytes
    kept.put((2, None), listed(*shared))

    definitions = sum(each.footprint for each in shared)
    assert kept.bytes == 2 * of_one - definitions
    assert of_one > definitions + 2 * 20_000


def test_lists_made_at_the_same_time_hold_each_definition_once() -> None:
    kept = KeptLists(BYTES_MAX)

    # Each has parsed it, since no list had it yet.
    lists = [kept.put((n, None), listed(defined("shared"))) for n in range(3)]

    assert [kept.get((n, None)) for n in range(3)] == lists
    assert len({id(each.listed.tools[0].definition) for each in lists}) == 1


def test_the_least_recently_used_go_and_their_definitions_with_them() -> None:
    kept = KeptLists(BYTES_MAX)
    everywhere = defined("everywhere")
    lists = [listed(defined(f"tool{n}", 20_000), everywhere) for n in range(40)]

    for number, each in enumerate(lists):
        kept.put((number, None), each)
        kept.get((0, None))

    assert kept.bytes <= BYTES_MAX
    assert kept.get((0, None)) is lists[0]
    assert kept.get((1, None)) is None
    assert kept.get((39, None)) is lists[39]
    gone, known = (lists[n].listed.tools[0].definition.digest for n in (1, 39))
    assert kept.definition(gone) is None
    assert kept.definition(known) is lists[39].listed.tools[0].definition
    assert kept.definition(everywhere.digest) is everywhere


def test_a_new_list_takes_the_place_of_the_old_one() -> None:
    kept = KeptLists(BYTES_MAX)
    kept.put((1, None), listed(defined("old", 5_000), defined("both", 5_000)))
    kept.put((1, None), listed(defined("both", 5_000)))
    after = kept.bytes

    alone = KeptLists(BYTES_MAX)
    alone.put((1, None), listed(defined("both", 5_000)))

    assert after == alone.bytes


def test_the_last_list_is_kept_whatever_its_size() -> None:
    kept = KeptLists(BYTES_MAX)
    huge = listed(*(defined(f"tool{number}", 50_000) for number in range(40)))
    kept.put((1, None), listed(defined("small")))

    kept.put((2, None), huge)

    assert kept.get((2, None)) is huge
    assert kept.get((1, None)) is None


def test_what_is_rendered_of_a_list_leaves_memory_with_it() -> None:
    catalog = ToolCatalog()
    made = listed(defined("tool"))
    rendered = catalog.tools(made.listed, aliased=True)
    _ = rendered.stateless_list
    assert catalog.tools(made.listed, aliased=True) is rendered

    of_list, of_rendered = ref(made.listed), ref(rendered)
    del made, rendered
    gc.collect()

    assert of_list() is None
    assert of_rendered() is None
