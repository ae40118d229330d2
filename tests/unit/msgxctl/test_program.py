"""msgxctl as a program of its own, and what holds for all its commands."""

import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from msgxctl.__main__ import app
from msgxctl.failure import Status
from tests.architecture.sources import modules
from tests.architecture.test_calls import SERVICES
from tests.support.ctl import WHY, ctl, program
from tests.support.messages import flop

CHANGING = {
    "abandoned reopen",
    "dead correct",
    "dead replay",
    "events discard",
    "events requeue",
    "head retry",
    "head skip",
    "pause",
    "request register",
    "request resolve",
    "resume",
}


def leaves(group: Any = None, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command under its whole name."""
    root: Any = typer.main.get_command(app)
    for name, command in (group or root).commands.items():
        path = f"{before} {name}".strip()
        if hasattr(command, "commands"):
            yield from leaves(command, path)
        else:
            yield path, command


COMMANDS = dict(leaves())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_json_and_says_what_it_does(name: str) -> None:
    options = {option for one in COMMANDS[name].params for option in one.opts}

    assert "--json" in options
    assert ("--reason" in options) == (name in CHANGING)
    assert COMMANDS[name].help
    assert ctl(*name.split(), "--help").status == 0


def test_every_call_of_every_service_has_its_command() -> None:
    text = "".join(path.read_text("utf-8") for path in modules("msgxctl"))
    asked = set(re.findall(r'_?SERVICE, "(\w+)"', text))
    offered = {method.name for service in SERVICES.values() for method in service.methods}

    assert offered - asked == set()
    assert asked - offered == set()


def test_the_shell_completes_commands_and_services() -> None:
    def completions(line: str) -> set[str]:
        running = program(
            _MSGXCTL_COMPLETE="complete_bash",
            COMP_WORDS=line,
            COMP_CWORD=str(len(line.split(" ")) - 1),
        )
        return set(running.communicate(timeout=60)[0].split())

    assert {"abandoned"} == completions("msgxctl aban")
    assert {"list", "reopen"} <= completions("msgxctl abandoned ")
    assert {"processor"} == completions("msgxctl wake proc")


def test_ctrl_c_at_a_question_is_no_answer_and_ends_as_ctrl_c_does() -> None:
    at, discard = ("--dispatcher", "127.0.0.1:1"), ("events", "discard", 5, "--topic", "msg")
    with program(*at, *discard, "--flid", 1, *WHY, stdin=subprocess.PIPE) as running:
        assert running.stderr is not None
        asked = running.stderr.read(len("Discard event 5 for good?"))

        running.send_signal(signal.SIGINT)

        assert running.wait(timeout=60) == Status.INTERRUPTED
        assert asked == "Discard event 5 for good?"
        assert "nobody answered" not in running.stderr.read()


def test_a_terminal_that_knows_no_chinese_gets_a_sign_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "remark.xml"
    file.write_text(flop("REMC", "<REMC>旅客晚到</REMC>"))

    with program("decode", file, PYTHONIOENCODING="latin-1") as running:
        out, err = running.communicate(timeout=60)

    assert (running.returncode, err) == (0, "")
    assert "????" in out


def test_a_pipe_that_nobody_reads_any_more_is_no_defect() -> None:
    running = program("decode", "--json", "/dev/null", "/dev/null")
    assert running.stdout is not None
    running.stdout.close()

    running.wait(timeout=60)

    assert running.stderr is not None
    assert "Traceback" not in running.stderr.read()
    running.stderr.close()
