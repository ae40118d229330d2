"""What a cell of the conformance matrix is: given, when, then. Owner: these tests.

Texts and states hold placeholders, so that a cell is the same in the page and in the test:
`{A}` to `{D}` are FLIDs of the cell's own, `{DAY}` and `{NEXT}` its two days in SIS form, and
in a state `@0830` is that time of `{DAY}`, `+0830` of `{NEXT}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final, TypeAlias

State: TypeAlias = Mapping[str, Any]
"""A flight as the gateway shows it, without FLID, versions and times of writing."""

States: TypeAlias = Mapping[str, State | None]
"""By letter; None: not stored. A flight that is not named must not exist."""

LETTERS: Final = "ABCD"
_FIRST_DAY: Final = date(2026, 1, 1)
_MONTHS: Final = (
    *("JAN", "FEB", "MAR", "APR", "MAY", "JUN"),
    *("JUL", "AUG", "SEP", "OCT", "NOV", "DEC"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A message without its envelope."""

    type: str
    styp: str
    body: str
    shown: str | None = None  # what the page shows instead of a long body

    def __str__(self) -> str:
        return self.body if self.shown is None else self.shown


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The terminal state, with the whole reason; of a refusal, words that the reason names."""

    state: str
    reason: str | None = None
    error_class: str | None = None
    says: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.error_class is not None:
            return f"{self.state}({self.error_class}): {' … '.join(self.says)}"
        return self.state if self.reason is None else f"{self.state}({self.reason})"


SUCCEEDED: Final = End(state="SUCCEEDED")
NO_CHANGE: Final = End(state="SUCCEEDED", reason="no-change")
DUPLICATE: Final = End(state="SKIPPED", reason="duplicate-of:<id>")


def skipped(reason: str) -> End:
    """Return the end of a message that has nothing to do."""
    return End(state="SKIPPED", reason=reason)


def refused(*says: str) -> End:
    """Return the end of a message that breaks the interface, and what its reason names."""
    return End(state="DEAD", error_class="PROTOCOL", says=says)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrote:
    """What became of one written flight: kind of journal entry, tags, and what is sent."""

    flid: str
    kind: str
    tags: tuple[str, ...]
    sends: str  # upsert, tombstone, nothing: on both topics and in Redis

    def __str__(self) -> str:
        tags = " ".join(self.tags)
        return f"{self.flid} {self.kind}{' ' if tags else ''}{tags} → {self.sends}"


def wrote(text: str) -> Wrote:
    """Return what `A CHANGED STND ESTT → upsert` says; without an arrow: upsert."""
    words, _, sends = text.partition("→")
    flid, kind, *tags = words.split()
    return Wrote(flid=flid, kind=kind, tags=tuple(tags), sends=sends.strip() or "upsert")


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """Where the session is killed the first time: at the end of the message, or at the write of
    a flight."""

    at: str  # "finish" or a letter

    def __str__(self) -> str:
        if self.at == "finish":
            return "after the commit, before Redis and the terminal state"
        return f"in the batch that writes {self.at}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One case: the messages given before, the one under test, and everything it leads to."""

    section: str
    row: str
    column: str
    given: tuple[Text, ...] = ()
    when: Text
    end: End = SUCCEEDED
    before: States
    after: States
    wrote: tuple[Wrote, ...] = ()
    crash: Crash | None = None
    twice: bool = False  # the same text lands again, and is a duplicate
    asked: tuple[str, ...] = ()  # DAY, NEXT: a request for these days waits for the answer
    # parameters that are not the default, by group
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    log: Mapping[str, Any] | None = None  # figures of SCHD_SNAP_LOG
    again_log: Mapping[str, Any] | None = None  # figures of the duplicate's row
    floors: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # version, life (R45)
    kept: Mapping[str, int] = field(default_factory=dict)  # rows of SRVT, VIPF
    unmapped: tuple[str, ...] = ()  # tags that are counted

    @property
    def name(self) -> str:
        """Return the id of the cell."""
        return f"{self.section}-{self.row}-{self.column}".replace(" ", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotApplicable:
    """A cell without a case, and why."""

    section: str
    row: str
    column: str
    why: str


Entry: TypeAlias = Cell | NotApplicable


@dataclass(frozen=True, slots=True)
class Place:
    """What the placeholders of the cell with this number stand for."""

    number: int

    @property
    def day(self) -> date:
        """Return the cell's own operation day."""
        return _FIRST_DAY + timedelta(days=2 * self.number)

    @property
    def flids(self) -> dict[str, str]:
        """Return FLIDs by letter; D is larger than C as a number only."""
        first = 10_000 + 10 * self.number
        numbers = (first, first + 1, first + 2, 10 * first)
        return dict(zip(LETTERS, map(str, numbers), strict=True))

    def asked(self, days: tuple[str, ...]) -> tuple[str, str]:
        """Return begin and end of a request for these days."""
        numbers = [("DAY", "NEXT").index(day) for day in days]
        first, last = (self.day + timedelta(days=n) for n in (numbers[0], numbers[-1]))
        return f"{first} 00:00", f"{last} 23:59"

    def fill(self, text: str) -> str:
        """Return `text` with every placeholder filled in."""
        for letter, flid in self.flids.items():
            text = text.replace(f"{{{letter}}}", flid)
        for name, day in (("DAY", self.day), ("NEXT", self.day + timedelta(days=1))):
            text = text.replace(f"{{{name}}}", _sis(day))
        return text

    def state(self, form: Any) -> Any:
        """Return a state with times as the gateway shows them."""
        match form:
            case str() if form[:1] in ("@", "+") and form[1:].isdigit():
                day = self.day + timedelta(days=int(form[0] == "+"))
                return f"{day.isoformat()}T{form[1:3]}:{form[3:]}:00+08:00"
            case str():
                return self.fill(form)
            case Mapping():
                return {name: self.state(part) for name, part in form.items()}
            case list() | tuple():
                return [self.state(part) for part in form]
            case _:
                return form


def _sis(day: date) -> str:
    return f"{day.day:02}{_MONTHS[day.month - 1]}{day.year % 100:02}"
