"""What a command prints: tables for people, JSON for scripts, progress on long work. Text of
messages is hostile: nothing of it reaches the terminal as it is."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

Row: TypeAlias = Mapping[str, Any]
Column: TypeAlias = tuple[str, str | Callable[[Row], object]]
"""A heading, and the name of a value or what makes one of a row."""

_PIPE_WIDTH: Final = 240  # where no terminal says how wide it is
_LONGEST_CELL: Final = 300


def console(*, error: bool = False) -> Console:
    """Return where to print; of the moment, since tests replace the streams."""
    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(
        file=stream, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False
    )


def harmless(text: str, *, lines: bool = False) -> str:
    """Return `text` without anything that a terminal obeys or that turns its direction; with
    `lines` line ends and tabs stay."""
    kept = "\n\t" if lines else ""
    return "".join(c if c.isprintable() or c in kept else "\ufffd" for c in text)


def as_json(value: object) -> None:
    """Print a value for scripts: ASCII only, one document."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True, indent=2) + "\n")


def say(text: str) -> None:
    """Print a line for people."""
    console().print(Text(harmless(text)), soft_wrap=True)


def note(text: str) -> None:
    """Print a line beside the result: on standard error."""
    console(error=True).print(Text(harmless(text)), soft_wrap=True)


def body(text: str) -> None:
    """Print the text of a message: as it is, but for what a terminal would obey."""
    sys.stdout.write(harmless(text.replace("\r\n", "\n"), lines=True).rstrip("\n") + "\n")


def exact(text: str) -> None:
    """Print the text of a message to be kept: byte for byte, but for a terminal."""
    if sys.stdout.isatty():
        body(text)
    else:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()


def table(rows: Sequence[Row], columns: Sequence[Column]) -> None:
    """Print rows under headings; a column that nobody has a value for is left out."""
    cells = [[_cell(row, source) for _, source in columns] for row in rows]
    used = [at for at in range(len(columns)) if any(line[at] for line in cells)]
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for at in used:
        drawn.add_column(columns[at][0], overflow="fold")
    for line in cells:
        drawn.add_row(*(Text(line[at]) for at in used))
    console().print(drawn)


def facts(row: Row, columns: Sequence[Column]) -> None:
    """Print one thing: a line for each value that it has."""
    drawn = Table(box=None, pad_edge=False, show_header=False)
    drawn.add_column(style="bold", no_wrap=True)
    drawn.add_column(overflow="fold")
    for heading, source in columns:
        if text := _cell(row, source, longest=None):
            drawn.add_row(Text(heading), Text(text))
    console().print(drawn)


def at(name: str) -> Callable[[Row], object]:
    """Return a column's source: an instant, to the second."""

    def shown(row: Row) -> object:
        told = row.get(name)
        return f"{told[:10]} {told[11:19]}Z" if isinstance(told, str) and told else None

    return shown


@contextmanager
def progress(doing: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Give what tells how far the work is; a bar on a terminal's standard error, else
    nothing."""
    out = console(error=True)
    if not out.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=out, transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done: bar.update(task, completed=done)


def _cell(
    row: Row, source: str | Callable[[Row], object], longest: int | None = _LONGEST_CELL
) -> str:
    value = source(row) if callable(source) else row.get(source)
    match value:
        case None | "" | [] | {}:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            text = ", ".join(str(one) for one in value)
        case _:
            text = str(value)
    text = harmless(text)
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"
