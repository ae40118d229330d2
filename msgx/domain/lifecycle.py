"""A life cycle as data: one table of moves, from which the guards in SQL and the docs page
come."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

S = TypeVar("S", bound=StrEnum)
T = TypeVar("T", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class LifeCycle(Generic[S, T]):
    """Which trigger leads from which state to which; there is no other move."""

    moves: Mapping[tuple[S, T], S]

    def sources(self, trigger: T) -> list[S]:
        """Return the states that accept `trigger`, in the order of the table."""
        return [state for state, via in self.moves if via is trigger]

    def target(self, trigger: T) -> S:
        """Return the one state that `trigger` leads to, wherever it starts."""
        (reached,) = {to for (_, via), to in self.moves.items() if via is trigger}
        return reached
