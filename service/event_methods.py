"""Methods that trigger an event, with less work for each call than the library's."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from eventsourcing import domain

from service.events import fields_of

# A version of the library that keeps these elsewhere triggers all events itself.
_Decorator: Any = getattr(domain, "CommandMethodDecorator", ())
_EVENTS: dict[Any, type[Any]] = getattr(domain, "decorated_func_callers", {})


def trigger_directly(aggregate: type[Any]) -> None:
    """Let a class's ``@event`` methods make the same events directly.

    For each call, the library finds its arguments, the event and the method to apply
    anew: two thirds of what it takes to decide on tool rules. Replay is the library's,
    and so is a method whose event is more than its parameters.
    """
    for name, decorator in list(vars(aggregate).items()):
        if isinstance(decorator, _Decorator) and name != "__init__":
            event = _EVENTS.get(decorator)
            if event is not None and _is_plain(decorator.decorated_func, event):
                setattr(aggregate, name, _direct(decorator.decorated_func, event))


def _is_plain(apply: Callable[..., None], event: type[Any]) -> bool:
    """Say whether an event holds its method's parameters, and nothing else applies."""
    _, *parameters = inspect.signature(apply).parameters.values()
    applied_by = [kind for kind in event.__mro__ if "apply" in vars(kind)]
    return (
        {each.name for each in parameters} == fields_of(event).keys()
        and all(each.default is each.empty for each in parameters)
        and {kind.__module__ for kind in applied_by} == {domain.__name__}
    )


def _direct(apply: Callable[..., None], event_type: type[Any]) -> Callable[..., None]:
    parameters = [*inspect.signature(apply).parameters][1:]
    names = [*fields_of(event_type)]

    @wraps(apply)
    def trigger(aggregate: Any, *values: Any, **fields: Any) -> None:
        apply(aggregate, *values, **fields)
        fields.update(zip(parameters, values, strict=False))
        aggregate.version = version = aggregate.version + 1
        aggregate.modified_on = at = event_type.create_timestamp()
        event = object.__new__(event_type)
        vars(event).update(
            originator_id=aggregate.id,
            originator_version=version,
            timestamp=at,
            **{name: fields[name] for name in names},
        )
        aggregate.pending_events.append(event)

    return trigger
