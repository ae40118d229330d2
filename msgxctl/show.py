"""What a command prints: tables for people, JSON for scripts, progress on long work. Text of
messages is hostile: nothing of it reaches the terminal as it is."""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from rich.cells import cell_len
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

from msgxctl.failure import Failure

Row: TypeAlias = Mapping[str, Any]
Column: TypeAlias = tuple[str, str | Callable[[Row], object]]
"""A heading, and the name of a value or what makes one of a row."""

_PIPE_WIDTH: Final = 240  # where no terminal says how wide it is
_LONGEST_CELL: Final = 300
_LONGEST_WORD: Final = 32  # ids, instants, names: never broken
_LEAST_PROSE: Final = 16  # what longer texts may be folded to
_GAP: Final = 2  # between two columns


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
    return "".join(c if _is_harmless(c) or c in kept else "\ufffd" for c in text)


def _is_harmless(character: str) -> bool:
    """Tell whether a character only shows itself; Chinese texts have wide blanks."""
    return character.isprintable() or unicodedata.category(character) == "Zs"


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
    """Print rows under headings; a column that nobody has a value for is left out. Where a row
    does not fit into a line, each of its values has one of its own."""
    named = [(heading, [_cell(row, source) for row in rows]) for heading, source in columns]
    used = [(heading, texts) for heading, texts in named if any(texts)]
    widths = [max(map(cell_len, (heading, *texts))) for heading, texts in used]
    whole = [width <= _LONGEST_WORD for width in widths]
    least = [width if fits else _LEAST_PROSE for width, fits in zip(widths, whole, strict=True)]
    if sum(least) + _GAP * (len(used) - 1) > console().width:
        for number in range(len(rows)):
            _facts((heading, texts[number]) for heading, texts in used)
            say("")
        return
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for (heading, _), no_wrap in zip(used, whole, strict=True):
        drawn.add_column(heading, overflow="fold", no_wrap=no_wrap)
    for line in zip(*(texts for _, texts in used), strict=True):
        drawn.add_row(*map(Text, line))
    _print(drawn)


def facts(row: Row, columns: Sequence[Column]) -> None:
    """Print one thing: a line for each value that it has."""
    _facts((heading, _cell(row, source, longest=None)) for heading, source in columns)


def _facts(values: Iterable[tuple[str, str]]) -> None:
    drawn = Table(box=None, pad_edge=False, show_header=False)
    drawn.add_column(style="bold", no_wrap=True)
    drawn.add_column(overflow="fold")
    for heading, text in values:
        if text:
            drawn.add_row(Text(heading), Text(text))
    _print(drawn)


def _print(drawn: Table) -> None:
    """Print a table; into a pipe without the blanks that fill its cells."""
    out = console()
    if not drawn.row_count:
        return
    if out.is_terminal:
        out.print(drawn)
        return
    with out.capture() as printed:
        out.print(drawn)
    lines = printed.get().splitlines()
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in lines)


def at(name: str) -> Callable[[Row], object]:
    """Return a column's source: an instant, to the second."""

    def shown(row: Row) -> object:
        told = row.get(name)
        return f"{told[:10]} {told[11:19]}Z" if isinstance(told, str) and told else None

    return shown


@contextmanager
def early(so_far: Callable[[], str]) -> Iterator[None]:
    """Tell how far work on several things came, if it does not come to its end."""
    try:
        yield
    except (KeyboardInterrupt, Failure):
        note(f"it ended early: {so_far()}")
        raise


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
