"""`msgxctl dead`, `head` and `message`, asked of the processor itself."""

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from msgxctl.failure import Status
from tests.support.ctl import WHY, Ended, ctl, program, sentence
from tests.support.messages import adft, flop, fltr, stand
from tests.support.processor import Line, refusing
from tests.support.replaying import operating
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

Ctl: TypeAlias = Callable[..., Ended]
BROKEN = "<MSG><META><SNDR>AODB</SNDR>\x1b[2J\u202eA & B"


@pytest.fixture
def asked(line: Line) -> Iterator[Ctl]:
    """msgxctl, asking the line's processor."""
    with operating(line) as operator:
        yield lambda *words, **more: ctl("--processor", operator.address, *words, **more)


def audit(line: Line) -> list[tuple[Any, ...]]:
    rows = line.rows(
        "SELECT operator, reason, action, affected FROM admin_audit ORDER BY audit_id"
    )
    return [tuple(row.values()) for row in rows]


def states(line: Line, ids: list[int]) -> list[str]:
    return [line.end(one)[0] for one in ids]


def died(line: Line, *texts: str) -> list[int]:
    line.run(adft(fltr("1"), fltr("2"), fltr("3")))
    return line.run(*texts)


@pytest.mark.covers("R35", "R55")
def test_dead_messages_are_listed_grouped_and_shown(line: Line, asked: Ctl) -> None:
    wrong = [flop("STND", "<GATE>1</GATE>", str(flid)) for flid in (1, 2, 3)]
    dead = died(line, *wrong, BROKEN)

    listed = asked("dead", "list", "--json").told
    page = asked("dead", "list", "--limit", 2)
    by_class = asked("message", "list", "--state", "DEAD", "--class", "MALFORMED", "--json")
    groups = asked("dead", "groups", "--json").told
    one = asked("dead", "show", dead[0], "--json").told
    shown = [asked("dead", "groups"), asked("message", "show", dead[0]), page]

    assert [row["msg_id"] for row in listed["messages"]] == dead
    assert [row["msg_id"] for row in by_class.told["messages"]] == dead[3:]
    assert [group["count"] for group in groups["groups"]] == [3, 1]
    assert groups["total_messages"] == listed["total"] == 4
    assert (one["message"]["state"], one["message"]["error_class"]) == ("DEAD", "PROTOCOL")
    assert [attempt["number"] for attempt in one["attempts"]] == [1]
    assert one["raw_text"] == ""
    assert [done.status for done in shown] == [0, 0, 0]
    assert "2 of 4 messages" in page.out
    assert "PROTOCOL" in shown[1].out


@pytest.mark.covers("R35", "R38")
def test_a_hostile_text_is_shown_harmless_and_kept_exact(line: Line, asked: Ctl) -> None:
    (dead,) = died(line, BROKEN)

    shown = asked("dead", "show", dead, "--text")
    exact = asked("message", "show", dead, "--only", "sent")

    assert all(c.isprintable() or c == "\n" for c in shown.out)
    assert "\ufffd[2J\ufffdA & B" in shown.out
    assert exact.out == BROKEN


@pytest.mark.covers("R35", "R38")
def test_a_large_text_is_put_into_a_file_whole_and_one_that_is_not_there_is_refused(
    line: Line, asked: Ctl
) -> None:
    large = f"<MSG>{'旅' * 2_000_000}"
    (dead,) = died(line, large)

    whole = asked("dead", "show", dead, "--only", "sent")
    none = asked("dead", "show", dead, "--only", "corrected")

    assert whole.out == large
    assert (none.status, none.out) == (Status.FAILED, "")
    assert sentence(none) == f"there is no corrected text of message {dead}"


@pytest.mark.covers("R35", "R55")
def test_a_malformed_message_is_corrected_and_replayed(
    line: Line, asked: Ctl, tmp_path: Path
) -> None:
    right = stand("7", seqn="901")
    (dead,) = died(line, right.replace("</MSG>", ""))
    file = tmp_path / "right.xml"
    file.write_text(right)

    refused = asked("dead", "replay", dead, *WHY)
    corrected = asked("--operator", "wei", "dead", "correct", dead, file, *WHY)
    forecast = asked("dead", "dry-run", dead, "--force", "--json").told
    replayed = asked("--operator", "wei", "dead", "replay", dead, "--force", *WHY)
    line.run()

    assert refused.status == Status.FAILED
    assert sentence(refused) == "1 of 1 were not put back: 1 NEEDS_FORCE"
    assert (corrected.status, replayed.status) == (0, 0)
    assert "APPLIES" in corrected.out
    assert [one["verdict"] for one in forecast["forecasts"]] == ["APPLIES"]
    assert "1 of 1 messages are put back" in replayed.out
    assert line.end(dead)[0] == "SUCCEEDED"
    assert line.flight().values["STND"] == "7"
    told = asked("message", "show", dead, "--text", "--json").told
    assert (told["corrected_by"], told["corrected_text"]) == ("wei", right)
    assert audit(line)[1:] == [
        ("wei", "a test", "correct", 1),
        ("wei", "a test", "replay", 1),
    ]


@pytest.mark.covers("R35")
def test_a_correction_may_be_as_large_as_a_message(
    line: Line, asked: Ctl, tmp_path: Path
) -> None:
    (dead,) = died(line, "not XML")
    file = tmp_path / "large.xml"
    file.write_text(stand("7").replace("<FLOP>", f"<!--{'x' * 6_000_000}--><FLOP>"))

    done = asked("dead", "correct", dead, file, *WHY)

    assert done.status == 0
    assert "APPLIES" in done.out


@pytest.mark.covers("R35", "B35")
def test_a_replay_by_filter_counts_asks_back_and_reports_what_stays(
    line: Line, asked: Ctl
) -> None:
    wrong = [flop("STND", "<GATE>1</GATE>", str(flid)) for flid in (1, 2, 3)]
    dead = died(line, *wrong, "not XML")
    matching = ("dead", "replay", "--matching", "--class", "PROTOCOL", "--force", *WHY)

    unforced = asked("dead", "replay", "--matching", *WHY)
    silent = asked(*matching)
    refused = asked(*matching, stdin=b"n\n")
    done = asked(*matching, "--yes", "--rate", 50, "--json")

    assert (unforced.status, silent.status, refused.status) == (0, Status.USAGE, 1)
    assert "4 more are of a class that needs --force" in unforced.err
    assert "Replay 3 messages?" in refused.err
    assert done.status == 0
    assert (done.told["total"], done.told["replayed"], done.told["left"]) == (3, 3, [])
    line.run()
    assert [line.end(one)[0] for one in dead] == ["DEAD"] * 4
    told = [asked("message", "show", one, "--json").told["message"] for one in dead]
    assert [one["replays"] for one in told] == [1, 1, 1, 0]


@pytest.mark.covers("R35", "B30")
def test_a_newer_source_is_named_and_nothing_is_overwritten(line: Line, asked: Ctl) -> None:
    line.run(adft(fltr("1")))
    line.restart(pipeline={"max_attempts": 1, "ladder": ()})
    with refusing(line, "1"):
        (dead,) = line.run(stand("7"))
    line.restart()
    (newer,) = line.run(stand("8"))

    with operating(line) as operator:
        at = ("--processor", operator.address, "dead")
        forecast = ctl(*at, "dry-run", dead)
        refused = ctl(*at, "replay", dead, *WHY, "--json")
        stale = ctl(*at, "replay", dead, "--allow-stale", *WHY)
    line.run()

    assert f"{newer} set STND of 1" in forecast.out
    assert refused.status == Status.FAILED
    assert refused.told["left"][0]["newer"][0]["msg_id"] == newer
    assert stale.status == 0
    assert line.end(dead)[0] == "SUCCEEDED"
    assert line.flight().values["STND"] == "8"


@pytest.mark.covers("R55", "INV-3")
def test_the_head_is_shown_retried_and_skipped(line: Line) -> None:
    line.run(adft(fltr("1")))
    line.restart()
    with refusing(line, "1"):
        (stuck,) = line.run(stand("7"))
    behind = line.land(stand("8"))

    with operating(line) as operator:
        at = ("--processor", operator.address, "head")
        told, shown = ctl(*at, "--json").told, ctl(*at, "show")
        retried = ctl(*at, "retry", *WHY, "--json")
        silent = ctl(*at, "skip", stuck, *WHY)
        skipped = ctl(*at, "skip", stuck, *WHY, "--yes")
        again = ctl(*at, "skip", stuck, *WHY, "--yes")
        line.run()
        nothing = ctl(*at)

    assert (told["head"]["msg_id"], told["open"]) == (stuck, 2)
    assert "PROCESSING" in shown.out
    assert retried.told == {"msg_id": stuck, "changed": True}
    assert (silent.status, skipped.status, again.status) == (Status.USAGE, 0, Status.FAILED)
    assert line.end(stuck)[0] == "SKIPPED"
    assert line.end(behind)[0] == "SUCCEEDED"
    assert nothing.out.strip() == "nothing waits"
    assert [row[2:] for row in audit(line)][:2] == [("retry", 1), ("skip", 1)]


@pytest.mark.covers("B35", "R35")
def test_ctrl_c_ends_a_replay_and_says_how_far_it_came(line: Line) -> None:
    dead = died(line, *(flop("STND", "<GATE>1</GATE>") for _ in range(40)))

    with operating(line) as operator:
        replay = ("dead", "replay", "--matching", "--force", "--yes", "--rate", 1, *WHY)
        running = program("--processor", operator.address, *replay)
        until(lambda: states(line, dead).count("PENDING"), "one is put back")
        running.send_signal(signal.SIGINT)
        out, err = running.communicate()
        said = re.fullmatch(r"it ended early: (\d+) of 40 messages are put back", err.strip())
        ended = states(line, dead)

    assert (running.returncode, out) == (Status.INTERRUPTED, "")
    assert said is not None, err
    back = ended.count("PENDING")
    assert 1 <= int(said[1]) <= back < 40
    assert ended == ["PENDING"] * back + ["DEAD"] * (40 - back)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("replay", *WHY), Status.USAGE),
        (("replay", 1, "--matching", *WHY), Status.USAGE),
        (("replay", 1, "--type", "FLOP", *WHY), Status.USAGE),
        (("dry-run",), Status.USAGE),
        (("correct", 1, "/nonexistent", *WHY), Status.USAGE),
        (("list", "--since", "yesterday"), Status.USAGE),
        (("show", 4711), Status.FAILED),
    ],
)
def test_what_is_not_asked_properly_is_refused(
    asked: Ctl, words: tuple[object, ...], status: Status
) -> None:
    assert asked("dead", *words).status == status


def test_a_correction_that_cannot_be_read_is_refused(
    line: Line, asked: Ctl, tmp_path: Path
) -> None:
    (dead,) = died(line, "not XML")
    (tmp_path / "bytes").write_bytes(b"<MSG>\xff")
    (tmp_path / "bad").write_text("<MSG>\x1b[2J")

    bytes_ = asked("dead", "correct", dead, tmp_path / "bytes", *WHY)
    bad = asked("dead", "correct", dead, tmp_path / "bad", *WHY)

    assert (bytes_.status, bad.status) == (Status.USAGE, Status.FAILED)
    assert sentence(bytes_) == "the text is no UTF-8 at byte 6"
    assert sentence(bad).startswith("processor refuses: ")
