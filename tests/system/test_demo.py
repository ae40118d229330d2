"""`make demo` as a newcomer runs it: one small day, everything agrees, nothing is left."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local import folder as folders

ROOT = Path(__file__).parents[2]
LIMIT = 600


def demo(root: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: text for name, text in os.environ.items() if name[:5] != "MSGX_"}
    return subprocess.run(
        [sys.executable, "-m", "deploy.local.demo"], cwd=ROOT, timeout=LIMIT, check=False,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=environment | {"ONCE": "1", "TMPDIR": str(root)} | variables,
    )  # fmt: skip


def processes_in(root: Path) -> list[str]:
    """Return the processes whose command, folder or environment names `root`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            told = b" ".join((entry / name).read_bytes() for name in ("cmdline", "environ"))
        except OSError:
            continue
        if os.fsencode(root) in told and int(entry.name) != os.getpid():
            found.append(told.partition(b"\0\0")[0].decode(errors="replace")[:200])
    return found


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder for scratch folders that PostgreSQL's user may enter."""
    made = folders.scratch()
    yield made
    folders.remove(made)


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.timeout(LIMIT + 60)
def test_a_small_day_agrees_with_the_oracle_and_leaves_nothing(root: Path) -> None:
    done = demo(root, FLIGHTS="40", SEED="2", SPEED="0")

    assert done.returncode == 0, done.stdout[-4000:]
    assert "The oracle and the gateway agree" in done.stdout
    assert "request 1 is DONE, request 2 is DONE, 2 answers" in done.stdout
    assert "ended as SUCCEEDED, and flight" in done.stdout  # the message that was corrected
    assert processes_in(root) == []
    assert list(root.iterdir()) == []


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.timeout(LIMIT + 60)
def test_a_service_that_cannot_start_is_named_with_its_log_and_all_else_is_stopped(
    root: Path,
) -> None:
    broken = root / "broken" / "fastapi"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('not today')\n")

    done = demo(root, FLIGHTS="16", PYTHONPATH=str(broken.parent))

    assert done.returncode == 1, done.stdout[-4000:]
    assert "api ended while starting; the last lines of" in done.stdout
    assert "ImportError: not today" in done.stdout
    assert processes_in(root) == []
    assert [path.name for path in root.iterdir()] == ["broken"]


@pytest.mark.parametrize("given", [{"FLIGHTS": "many"}, {"SPEED": "-1"}])
def test_a_variable_that_is_no_number_is_one_sentence(
    root: Path, given: dict[str, str]
) -> None:
    done = demo(root, **given)

    (name, value) = next(iter(given.items()))
    assert done.returncode == 1
    assert done.stdout.startswith(name)
    assert value in done.stdout
    assert done.stdout.count("\n") == 1
    assert list(root.iterdir()) == []
