"""What every group of parameters is, and what is tried a limited number of times."""

from datetime import timedelta
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from msgx.config.kinds import Ladder, Tries


def seconds(*values: float) -> tuple[timedelta, ...]:
    """Return a ladder of so many seconds each."""
    return tuple(timedelta(seconds=value) for value in values)


class Group(BaseModel):
    """A group of parameters: frozen, and zone objects are welcome."""

    model_config = ConfigDict(
        frozen=True, arbitrary_types_allowed=True, extra="forbid", hide_input_in_errors=True
    )


class Retried(Group):
    """What is tried a limited number of times: one wait after each try but the last."""

    max_attempts: Tries  # tries
    ladder: Ladder  # waits between them

    @model_validator(mode="after")
    def _every_rung_is_reachable(self) -> Self:
        if len(self.ladder) != self.max_attempts - 1:
            raise ValueError(
                f"ladder needs {self.max_attempts - 1} rungs, has {len(self.ladder)}"
            )
        return self
