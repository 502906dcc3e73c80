"""The base of the models: fields of an answer, with their Python types."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from agent_runtime_client.response import Response


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Model:
    """An object of an answer, or of a request.

    A field that is newer than this client is kept too, as an attribute. A field that
    the service doesn't send, because it is older than this client, is missing.
    """

    # How to convert fields from JSON; those that need nothing are left out. Null
    # stays None.
    CONVERTERS: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    def __init__(self, **fields: Any) -> None:
        known = type(self).__annotations__
        if unknown := fields.keys() - known.keys():
            raise TypeError(
                f"{type(self).__name__} has no {', '.join(sorted(unknown))}"
            )
        if missing := [
            each for each in known if each not in fields and not hasattr(self, each)
        ]:
            raise TypeError(f"{type(self).__name__} needs {', '.join(missing)}")
        self.__dict__.update(fields)

    @classmethod
    def decode(cls, data: Mapping[str, Any], response: Response | None = None) -> Self:
        """Return the model of a JSON object."""
        made = cls.__new__(cls)
        fields = made.__dict__
        fields.update(data)
        for name, convert in cls.CONVERTERS.items():
            if fields.get(name) is not None:
                fields[name] = convert(fields[name])
        if response is not None:
            fields[_RESPONSE] = response
        return made

    @property
    def response(self) -> Response:
        """The answer that this is the data of: its ETag, position and headers.

        :raises AttributeError: it is a part of other data, or was made by hand
        """
        found: Response | None = self.__dict__.get(_RESPONSE)
        if found is None:
            raise AttributeError("only the whole data of an answer has a response")
        return found

    def fields(self) -> dict[str, Any]:
        """Return every field by name, unknown ones too."""
        fields = dict(self.__dict__)
        fields.pop(_RESPONSE, None)
        return fields

    # Hidden from type checkers, which would take any name for a field.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in type(self).__annotations__:
                raise AttributeError(f"the answer has no {name}; is the service older?")
            raise AttributeError(f"{type(self).__name__} has no {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} can't be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} can't be changed")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Model)
        return Model.fields(self) == Model.fields(other)

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__))

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={value!r}" for name, value in Model.fields(self).items()
        )
        return f"{type(self).__name__}({shown})"


# No field of JSON has a space in its name.
_RESPONSE = " response"
