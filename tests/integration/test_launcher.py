"""The local stack: nothing outlives its launcher, and faults are one clear sentence."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from deploy import local
from deploy.local.folder import scratch
from tests.support.waiting import PATIENCE_SECONDS, until

ROOT = Path(__file__).parents[2]
LIMIT = 2 * PATIENCE_SECONDS


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that PostgreSQL's user may enter, and that no other start sweeps away."""
    root = scratch()
    monkeypatch.setenv("TMPDIR", str(root))
    yield scratch()
    subprocess.run(["rm", "-rf", str(root)], check=True)


def start(folder: Path, servers: str, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "deploy.local", "up", "--folder", str(folder),
         "--servers", servers],
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=dict(os.environ, **environment),
    )  # fmt: skip


def until_up(launcher: "subprocess.Popen[str]") -> None:
    assert launcher.stdout is not None
    lines = []
    for line in launcher.stdout:
        lines.append(line)
        if "The stack is up" in line:
            return
    pytest.fail(f"the stack did not start: {''.join(lines)}")


def processes_of(folder: Path) -> list[str]:
    """Return the processes that name the folder or stand in it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (
                (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
            place = str((entry / "cwd").readlink())
        except OSError:
            continue
        if str(folder) in words or place.startswith(str(folder)):
            found.append(words)
    return found


def until_nothing_runs(folder: Path) -> None:
    until(lambda: not processes_of(folder), f"nothing of {folder} runs")


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_server_outlives_its_launcher(folder: Path, signum: signal.Signals) -> None:
    launcher = start(folder, "postgres,mysql,redis")
    until_up(launcher)
    before = processes_of(folder)

    launcher.send_signal(signum)
    launcher.wait(LIMIT)

    until_nothing_runs(folder)
    assert len(before) >= 7, before  # launcher, three guards, three servers
    assert launcher.returncode == (0 if signum != signal.SIGKILL else -signal.SIGKILL)
    assert folder.exists() == (signum == signal.SIGKILL)


@pytest.mark.slow
def test_a_launcher_killed_while_it_prepares_leaves_nothing_and_the_next_one_starts(
    folder: Path,
) -> None:
    launcher = start(folder, "mysql")
    assert launcher.stdout is not None
    assert "preparing" in launcher.stdout.readline()

    launcher.kill()
    launcher.wait(LIMIT)

    until_nothing_runs(folder)
    with local.running(folder, servers=["mysql"]) as endpoints:
        assert endpoints.mysql.startswith("mysql://")


def test_down_removes_what_a_killed_launcher_left(folder: Path) -> None:
    launcher = start(folder, "redis")
    until_up(launcher)
    launcher.kill()
    launcher.wait(LIMIT)
    until_nothing_runs(folder)

    said = subprocess.run(
        [sys.executable, "-m", "deploy.local", "down", "--folder", str(folder)],
        cwd=ROOT, text=True, capture_output=True, timeout=LIMIT, check=True,
    )  # fmt: skip

    assert said.stdout == f"No local stack runs in {folder}.\n"
    assert not folder.exists()


@pytest.mark.slow
def test_a_server_that_fails_stops_the_others_and_is_named_with_its_log(folder: Path) -> None:
    with local.running(folder, servers=["postgres"], keep=True):
        pass
    (folder / "postgres/data/postgresql.conf").write_text("no_such_setting = 1\n")

    with (
        pytest.raises(local.CannotStart, match=r"PostgreSQL ended while starting") as fault,
        local.running(folder, servers=["postgres", "redis"], keep=True),
    ):
        pass

    assert "no_such_setting" in str(fault.value)
    assert processes_of(folder) == []


def test_a_port_in_use_is_one_sentence_and_nothing_is_started(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        launcher = start(folder, "redis", MSGX_LOCAL_REDIS_PORT=str(port))
        said, _ = launcher.communicate(timeout=LIMIT)

    assert launcher.returncode == 1
    assert re.fullmatch(rf"Port {port} for Redis \(MSGX_LOCAL_REDIS_PORT\) .*in use.*\n", said)
    assert processes_of(folder) == []


def test_a_folder_of_another_version_is_refused(folder: Path) -> None:
    with local.running(folder, servers=["redis"], keep=True):
        pass
    (folder / "redis/version").write_text("99\n")

    with (
        pytest.raises(local.CannotStart, match=r"made by Redis 99, but \d+ is installed"),
        local.running(folder, servers=["redis"], keep=True),
    ):
        pass

    assert processes_of(folder) == []


def test_a_kept_folder_gives_the_data_and_the_address_again(folder: Path) -> None:
    with local.running(folder, servers=["redis"], keep=True) as first, client(first) as redis:
        redis.set("key", "value")

    with local.running(folder, servers=["redis"], keep=True) as again, client(again) as redis:
        found = redis.get("key")

    assert found == b"value"
    assert again.redis == first.redis


def test_a_folder_that_is_in_use_or_not_ours_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")

    with (
        local.running(folder, servers=["redis"]),
        pytest.raises(local.CannotStart, match="already runs"),
        local.running(folder, servers=["redis"]),
    ):
        pass
    with (
        pytest.raises(local.CannotStart, match="not empty"),
        local.running(tmp_path, servers=["redis"]),
    ):
        pass

    assert (tmp_path / "letter.txt").exists()


def client(endpoints: local.Endpoints) -> Redis:
    return Redis.from_url(endpoints.redis, socket_timeout=PATIENCE_SECONDS)
