"""Whether a change is kept as it was sent: answered so, and read so afterwards."""

from collections.abc import Mapping
from typing import Any, Final, get_args

from typing_extensions import is_typeddict

from service.app import operations
from service.http.operation import Operation
from tests.support.callers import Caller, Reply

READ_AT: Final = {each.path: each for each in operations() if each.method == "GET"}
WHERE: Final = "a command, decision, event, projector, table or query leaves it out"


def kept_fields(operation: Operation) -> set[str]:
    """Return the fields of a body that the operation's answer has, too."""
    if operation.method != "PUT" or operation.body is None:
        return set()
    data = operation.data
    for each in (data, *get_args(data)):
        if is_typeddict(each):
            return {*operation.body.model_fields} & {*each.__annotations__}
    return set()


async def check_kept(
    caller: Caller, operation: Operation, url: str, body: Any, reply: Reply
) -> None:
    """Check that the answer has what was sent, and that reading gives the answer."""
    for name in kept_fields(operation) & (body or {}).keys():
        assert covers(reply.data[name], body[name]), (
            f"{operation.name} answers another {name} than was sent: {WHERE}"
        )
    if operation.method != "PUT" or operation.path not in READ_AT:
        return
    read = (await caller.get(url, X_Min_Position=str(reply.position))).data
    different = {
        name
        for name in read.keys() & reply.data.keys()
        if read[name] != reply.data[name]
    }
    assert different == set(), (
        f"{READ_AT[operation.path].name} reads otherwise what {operation.name} "
        f"answered: {WHERE}"
    )


def covers(answered: Any, sent: Any) -> bool:
    """Say whether a part of an answer has all of what was sent, in any order."""
    if isinstance(sent, Mapping) and isinstance(answered, Mapping):
        return all(
            name in answered and covers(answered[name], value)
            for name, value in sent.items()
        )
    if isinstance(sent, list) and isinstance(answered, list):
        return len(sent) == len(answered) and all(
            any(covers(each, one) for each in answered) for one in sent
        )
    return bool(answered == sent)
