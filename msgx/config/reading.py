"""Reading a model of parameters: everything that is wrong is named at once, never a value."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from msgx.config.gather import Given, gather
from msgx.config.parameters import at_fault, parameters, variable


class Unusable(Exception):
    """The configuration cannot be used; the text says everything that is wrong, never a
    value."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(["the configuration is not usable:", *sorted(set(faults))]))


M = TypeVar("M", bound=BaseModel)


def read_from(
    kind: type[M],
    every: type[BaseModel],
    environment: Mapping[str, str],
    file: str | None = None,
) -> tuple[M, Given]:
    """Read `kind` from `environment`, and from `file` or the one that MSGX_CONFIG names.

    `every` has all the parameters that there are, of other services too. Beside what was read
    stands what was given for it.

    Raises:
        Unusable: what is unknown, missing or wrong, all of it.
    """
    given = gather(parameters(every), kind.model_fields, environment, file)
    try:
        settings = kind.model_validate(given.tree())
    except ValidationError as error:
        raise Unusable(given.faults + list(_faults(kind, error, given))) from None
    if given.faults:
        raise Unusable(given.faults)
    return settings, given


def _faults(kind: type[BaseModel], error: ValidationError, given: Given) -> Iterator[str]:
    for fault in error.errors():
        said = fault["msg"].removeprefix("Value error, ")
        path = tuple(part for part in fault["loc"] if isinstance(part, str))
        if not path:  # about several parameters: the text names them
            yield said
        elif fault["type"] == "missing":
            for one in at_fault(kind, path):
                yield f"{variable(one)}: must be set"
        elif path not in given.refused:
            yield f"{given.names.get(path) or variable(path)}: {said}"
