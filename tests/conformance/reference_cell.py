"""What a cell about reference data is: records given, a message, records after."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.conformance.cell import SUCCEEDED, End, Text

Records: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Payloads by key, of the cell's category."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefCell:
    """One case: the category before, the message under test, and everything it leads to.

    Another category holds a record, which no cell may touch."""

    section: str
    row: str
    column: str
    category: str
    given: tuple[Text, ...]
    when: Text
    end: End = SUCCEEDED
    before: Records
    after: Records
    wrote: tuple[str, ...] = ()  # keys whose record says that it comes from the message
    twice: bool = False  # the same text lands again, and is a duplicate
    unmapped: tuple[str, ...] = ()  # tags that are counted
    # the request that stands: a sent one, but for these columns
    asked: Mapping[str, Any] | None = None
    request: str | None = None  # the state in which the message leaves it
    # parameters of `msgx.reference` that are not the default
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the id of the cell."""
        return f"{self.section}-{self.row}-{self.column}".replace(" ", "_")
