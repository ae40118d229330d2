"""Reference data: every category and every action, in six situations and with a key twice."""

from collections.abc import Iterator
from typing import Any, Final

from tests.conformance.cell import (
    DUPLICATE,
    SUCCEEDED,
    End,
    NotApplicable,
    Text,
    refused,
    skipped,
)
from tests.conformance.reference_cell import Records, RefCell
from tests.conformance.reference_table import (
    ACTIONS,
    CATEGORIES,
    record,
    stored,
    stored_key,
)

SECTION: Final = "Reference data"
COLUMNS: Final = (
    "value", "empty", "twice", "ignored field", "bad record", "wrong RECS", "key twice",
)  # fmt: skip
_WHOLE: Final = ("DNLD", "RESP")


def entries() -> Iterator[RefCell | NotApplicable]:
    """Yield each place of the section."""
    for category in CATEGORIES:
        for action in ACTIONS:
            if category == "RSTA" and action not in _WHOLE:
                yield from _unknown_to_rsta(action)
                continue
            yield from Row(category, action).entries()


class Row:
    """The cells of one category and action: A and B stand before, N is new."""

    def __init__(self, category: str, action: str) -> None:
        self._category = category
        self._action = action
        self._kind = CATEGORIES[category]
        self._before = self._keyed(
            {"A": stored(category, "A", OLD="1"), "B": stored(category, "B")}
        )
        old, other = record(category, "A", "<OLD>1</OLD>"), record(category, "B")
        self._given = (package(category, "DNLD", old, other),)

    def entries(self) -> Iterator[RefCell | NotApplicable]:
        """Yield one entry for each column."""
        yield self._told("value", self._kind.xml, self._kind.stored, self._kind.unmapped)
        yield self._told("empty", *self._empties())
        yield self._told("twice", "", {}, twice=True)
        yield self._ignored()
        yield self._bad()
        yield self._wrong_count()
        yield self._key_twice()

    def _told(
        self,
        column: str,
        xml: str,
        fields: Any,
        unmapped: str = "",
        *,
        recs: int | None = None,
        twice: bool = False,
    ) -> RefCell:
        """Return a cell whose message tells A, and N or (to go) one that is not there."""
        category, action = self._category, self._action
        told, bare = record(category, "A", xml), record(category, "N")
        after, wrote = self._effect(stored(category, "A", **fields))
        counted = action != "DEL"
        return self._cell(
            column,
            package(category, action, told, bare, recs=recs),
            end=DUPLICATE if twice else SUCCEEDED,
            after=after,
            wrote=wrote,
            twice=twice,
            unmapped=tuple(unmapped.split()) if counted else (),
        )

    def _effect(self, told: dict[str, Any]) -> tuple[Records, tuple[str, ...]]:
        a, b, n = (stored_key(self._category, key) for key in "ABN")
        fresh = {a: told, n: stored(self._category, "N")}
        match self._action:
            case "DEL":
                return {b: self._before[b]}, ()
            case "DNLD" | "RESP" if self._category != "RSTA":
                return fresh, (a, n)
            case _:
                return {**self._before, **fresh}, (a, n)

    def _empties(self) -> tuple[str, dict[str, None], str]:
        names = {"BGTM": "BEGIN", "EDTM": "END"}
        tags = self._kind.empty.split()
        fields = {names.get(tag, tag): None for tag in tags}
        counted = " ".join(tag for tag in tags if tag in self._kind.unmapped.split())
        return "".join(f"<{tag}/>" for tag in tags), fields, counted

    def _ignored(self) -> RefCell | NotApplicable:
        tags = self._kind.ignored.split()
        if not tags:
            why = f"the interface names no field of {self._category} to be ignored (13.3)"
            return self._not("ignored field", why)
        return self._told("ignored field", "".join(f"<{tag}>x</{tag}>" for tag in tags), {})

    def _bad(self) -> RefCell:
        """A good record comes first: it must not have an effect either (INV-27)."""
        category, (tag, *more) = self._category, self._kind.key.split()
        if category == "RSTA":
            wrong = {
                "DNLD": ("<RTYP>DOOR</RTYP><RSID>1</RSID><STAT>D</STAT>", "RTYP 'DOOR'"),
                "RESP": (f"<RTYP>GATE</RTYP><{more[0]}>1</{more[0]}>", "STAT is missing"),
            }
        else:
            wrong = {
                "DNLD": ("<NEW>1</NEW>", f"{tag} is missing"),
                "RESP": (f"<{tag}/>", f"{tag} is empty"),
                "ADD": (f"<{tag}>1</{tag}><{tag}>2</{tag}>", f"{tag} stands twice"),
                "UPD": (f"<{tag}> </{tag}><NEW/>", f"{tag} is empty"),
                "DEL": ("", f"{tag} is missing"),
            }
        content, says = wrong[self._action]
        bad = f"<{category}>{content}</{category}>"
        return self._refused("bad record", says, record(category, "A", "<NEW/>"), bad)

    def _wrong_count(self) -> RefCell:
        if self._action not in _WHOLE:
            return self._told("wrong RECS", "", {}, recs=7)
        records = (record(self._category, "A"), record(self._category, "N"))
        says = f"RECS says 7, the package has 2 {self._category}"
        return self._refused("wrong RECS", says, *records, recs=7)

    def _key_twice(self) -> RefCell:
        category = self._category
        told = (
            record(category, "A", "<NEW>1</NEW>"),
            record(category, "N"),
            record(category, "A"),
        )
        if category != "RSTA":
            return self._refused("key twice", f"'A' stands twice: {category} 1 and 3", *told)
        after, wrote = self._effect(stored(category, "A"))
        return self._cell(
            "key twice",
            package(category, self._action, *told),
            end=SUCCEEDED,
            after=after,
            wrote=wrote,
            unmapped=("NEW",),
        )

    def _refused(
        self, column: str, says: str, *records: str, recs: int | None = None
    ) -> RefCell:
        return self._cell(
            column,
            package(self._category, self._action, *records, recs=recs),
            end=refused(says),
            after=self._before,
        )

    def _cell(
        self, column: str, when: Text, *, end: End, after: Records, **rest: Any
    ) -> RefCell:
        asks = self._action == "RESP"
        left = "SENT" if end.state == "DEAD" else "DONE"
        return RefCell(
            section=SECTION,
            row=f"{self._category}-{self._action}",
            column=column,
            category=self._category,
            given=self._given,
            when=when,
            end=end,
            before=self._before,
            after=after,
            asked={} if asks else None,
            request=left if asks else None,
            **rest,
        )

    def _not(self, column: str, why: str) -> NotApplicable:
        row = f"{self._category}-{self._action}"
        return NotApplicable(section=SECTION, row=row, column=column, why=why)

    def _keyed(self, records: Records) -> Records:
        return {stored_key(self._category, key): said for key, said in records.items()}


def package(category: str, action: str, *records: str, recs: int | None = None) -> Text:
    """Return a message of reference data."""
    number = len(records) if recs is None else recs
    return Text(type=category, styp=action, body=f"<RECS>{number}</RECS>{''.join(records)}")


def _unknown_to_rsta(action: str) -> Iterator[RefCell | NotApplicable]:
    row, why = (
        f"RSTA-{action}",
        f"RSTA knows no {action}: SKIPPED(unsupported) whatever it holds (R54)",
    )
    yield RefCell(
        section=SECTION,
        row=row,
        column=COLUMNS[0],
        category="RSTA",
        given=(package("RSTA", "DNLD", record("RSTA", "A")),),
        when=package("RSTA", action, record("RSTA", "A", "<STAT>D</STAT>")),
        end=skipped("unsupported"),
        before={"GATE:A": stored("RSTA", "A")},
        after={"GATE:A": stored("RSTA", "A")},
    )
    for column in COLUMNS[1:]:
        yield NotApplicable(section=SECTION, row=row, column=column, why=why)
