"""Parameters by name: `msgx.pipeline.claim-batch` in documents and files is
`MSGX_PIPELINE__CLAIM_BATCH` in the environment."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import NoneType, UnionType
from typing import Annotated, Any, Final, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr, TypeAdapter

PREFIX: Final = "MSGX_"
_DURATION: Final = TypeAdapter(timedelta)


@dataclass(frozen=True, slots=True)
class Unit:
    """What a whole number counts."""

    name: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: the fields that lead to it, and whether its value is a secret."""

    path: tuple[str, ...]
    is_secret: bool

    @property
    def variable(self) -> str:
        """Return its name in the environment."""
        return variable(self.path)

    @property
    def key(self) -> str:
        """Return its name in documents, and nested in a file."""
        return ".".join(("msgx", *self.path)).replace("_", "-")


def parameters(kind: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[Parameter]:
    """Yield every parameter below `kind`."""
    for name, field in kind.model_fields.items():
        if is_group(field.annotation):
            yield from parameters(field.annotation, (*above, name))
        else:
            yield Parameter((*above, name), plain(field.annotation) is SecretStr)


def variable(path: tuple[str, ...]) -> str:
    """Return the name of a parameter in the environment."""
    return PREFIX + "__".join(path).upper()


def at_fault(kind: type[BaseModel], path: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the parameters that `path` means: a missing group stands for its required ones."""
    group: type[BaseModel] = kind
    for name in path:
        field = group.model_fields.get(name)
        if field is None or not is_group(field.annotation):
            return [path]
        group = field.annotation
    required = [name for name, field in group.model_fields.items() if field.is_required()]
    return [(*path, name) for name in required] or [path]


def is_group(annotation: Any) -> TypeGuard[type[BaseModel]]:
    """Tell whether `annotation` is a group of parameters and not one parameter."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def plain(kind: Any) -> Any:
    """Return the annotation without what only bounds it, or lets it be missing."""
    if get_origin(kind) is Annotated:
        return plain(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        (only,) = (one for one in get_args(kind) if one is not NoneType)
        return plain(only)
    return kind


def shown(value: Any) -> str:
    """Return a value as the environment would hold it; of a secret only that there is one."""
    match value:
        case None:
            return ""
        case SecretStr():
            return "(hidden)"
        case bool():
            return str(value).lower()
        case timedelta():
            return _iso(value)
        case tuple():
            return ",".join(shown(one) for one in value)
        case frozenset():
            return ",".join(sorted(value))
        case _:
            return str(value)


def _iso(value: timedelta) -> str:
    """Return a duration in days and below: nobody reads P1Y35D as 400 days."""
    rest = value - timedelta(days=value.days)
    below = str(_DURATION.dump_python(rest, mode="json")).removeprefix("P")
    if not value.days:
        return f"P{below}"
    return f"P{value.days}D{below if rest else ''}"


def nested(values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """Return `values` by path as mappings inside mappings."""
    tree: dict[str, Any] = {}
    for path, value in values.items():
        group = tree
        for name in path[:-1]:
            group = group.setdefault(name, {})
        group[path[-1]] = value
    return tree
