"""What msgxctl prints, on terminals of any width and into pipes."""

import io
import re
import sys
from typing import Final

import pytest

from msgxctl import show

_BOLD: Final = re.compile(r"\x1b\[[0-9]*m")
COLUMNS: Final[tuple[show.Column, ...]] = (
    ("message", "msg_id"),
    ("class", "error_class"),
    ("finished", show.at("finished_at")),
    ("reason", "text"),
)
ROWS: Final = [
    {
        "msg_id": msg_id,
        "error_class": "IDENTITY_CONFLICT",
        "finished_at": "2026-06-15T08:00:00.000Z",
        "text": "it says another thing than the one before, 旅客　晚到",
    }
    for msg_id in (4711, 4712)
]


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> list[str]:
    """Return the lines that a terminal of `width` gets for the rows."""
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", terminal)
    show.table(ROWS, COLUMNS)
    return [_BOLD.sub("", line) for line in terminal.getvalue().splitlines()]


def test_words_and_instants_stay_whole_where_prose_can_give_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = on_terminal(monkeypatch, 80)

    assert lines[0].split() == ["message", "class", "finished", "reason"]
    assert max(map(len, lines)) <= 80
    assert sum("IDENTITY_CONFLICT  2026-06-15 08:00:00Z  it says" in one for one in lines) == 2


def test_where_a_row_does_not_fit_each_value_has_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = on_terminal(monkeypatch, 50)

    told = [line.split() for line in lines]
    assert max(map(len, lines)) <= 50
    assert told[:3] == [
        ["message", "4711"],
        ["class", "IDENTITY_CONFLICT"],
        ["finished", "2026-06-15", "08:00:00Z"],
    ]
    assert [] in told
    assert ["message", "4712"] in told


def test_a_pipe_gets_lines_without_blanks_at_their_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show.table([*ROWS, {"msg_id": 1}], COLUMNS)

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines == [line.rstrip() for line in lines]


def test_nothing_is_printed_of_no_rows(capsys: pytest.CaptureFixture[str]) -> None:
    show.table([], COLUMNS)

    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("\x1b]0;x\x07\x9b2J\x7f\x00\r\n", "�]0;x��2J���\n"),
        ("a\u202eb\u2066c\u200dd\u2028e", "a�b�c�d�e"),
        ("旅客\u3000晚到\xa0𠜎", "旅客\u3000晚到\xa0𠜎"),
        ("\ud800", "�"),
    ],
)
def test_what_a_terminal_obeys_is_replaced_and_blanks_of_any_width_stay(
    told: str, shown: str
) -> None:
    assert show.harmless(told, lines=True) == shown
