"""`msgxctl status`, `pause`, `resume` and `wake`, asked of two instances of intake."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from msgxctl.failure import Status
from tests.support.calls import TOKEN
from tests.support.ctl import WHY, ctl, sentence
from tests.support.process import Process, running
from tests.support.servers import mysql, postgres
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.system]

READ_TOKEN = "a-token-that-only-reads"


@pytest.fixture(scope="module")
def dsn(postgres_url: str, pg_template: str) -> Iterator[str]:
    with postgres.database(postgres_url, copy_of=pg_template) as made:
        yield made


@pytest.fixture(scope="module")
def both(dsn: str, mysql_url: str) -> Iterator[tuple[str, str]]:
    """The addresses of the leading instance and of the standby."""
    with mysql.mailbox(mysql_url) as mailbox:
        environment = {
            "MSGX_DATABASE__DSN": dsn,
            "MSGX_MAILBOX__URL": mailbox,
            "MSGX_LEADERSHIP__TIMEOUT": "PT10M",
            "MSGX_ADMIN__TOKEN": TOKEN,
            "MSGX_ADMIN__READ_TOKEN": READ_TOKEN,
        }
        with running("intake", **environment) as leader:
            leader.wait_for_health("SERVING")
            with running("intake", **environment) as standby:
                until(lambda: waits(standby), "the second one stands by")
                yield address(leader), address(standby)


@pytest.fixture
def intake(both: tuple[str, str]) -> str:
    return both[0]


def address(process: Process) -> str:
    return f"127.0.0.1:{process.logged('started')[0]['port']}"


def waits(process: Process) -> bool:
    return any("another" in line["reason"] for line in process.logged("waits"))


def state(intake: str, loop: str) -> Any:
    (told,) = ctl("--intake", intake, "status", "--json").told
    return next(one for one in told["loops"] if one["name"] == loop)["state"]


@pytest.mark.covers("R14", "R55")
def test_all_instances_are_shown_side_by_side(both: tuple[str, str]) -> None:
    at = ("--intake", ",".join(both))

    told = ctl(*at, "status", "--json")
    shown = ctl(*at, "status")

    assert (told.status, shown.status) == (0, 0)
    assert [(one["address"], one["leads"], one["serving"]) for one in told.told] == [
        (both[0], True, True),
        (both[1], False, False),
    ]
    assert told.told[0]["leader"]["instance"] == told.told[0]["instance"]
    assert told.told[0]["schema"]["current"] >= told.told[0]["schema"]["needed"]
    for word in ("intake", "poller", "backfill", "leadership", "another intake leads"):
        assert word in shown.out


@pytest.mark.covers("R55")
def test_what_does_not_answer_or_serve_decides_the_status(both: tuple[str, str]) -> None:
    away = ctl("--intake", both[0], "--processor", "127.0.0.1:1", "status", "--json")
    standby = ctl("--intake", both[1], "status")
    denied = ctl("--intake", both[0], "status", token="another-token-than-ours")
    nowhere = ctl("status")

    assert (away.status, standby.status) == (Status.AWAY, Status.FAILED)
    assert (denied.status, nowhere.status) == (Status.DENIED, Status.USAGE)
    assert sentence(away) == "processor at 127.0.0.1:1 does not answer"
    assert [one["error"] is None for one in away.told] == [True, False]
    assert sentence(standby) == "nobody serves as intake"


@pytest.mark.covers("R55", "R35")
def test_a_loop_rests_until_it_is_resumed(both: tuple[str, str], intake: str, dsn: str) -> None:
    at = ("--intake", f"{both[1]},{both[0]}")  # the one that leads does it

    paused = ctl(*at, "pause", "intake", "poller", "--reason", "too hot")
    again = ctl(*at, "pause", "intake", "poller", *WHY, "--json")
    until(lambda: state(intake, "poller") == "PAUSED", "the loop rests")
    shown = ctl("--intake", intake, "status", "intake")
    resumed = ctl(*at, "resume", "intake", "poller", *WHY)
    until(lambda: state(intake, "poller") != "PAUSED", "the loop works")

    assert (paused.status, again.status, resumed.status) == (0, 0, 0)
    assert paused.out.strip() == "poller of intake rests"
    assert again.told == {"changed": False}
    assert "too hot" in shown.out
    with psycopg.connect(dsn) as conn:
        acts = conn.execute(
            "SELECT action, affected FROM admin_audit WHERE action IN ('pause', 'resume')"
            " ORDER BY audit_id"
        ).fetchall()
    assert acts == [("pause", 1), ("pause", 0), ("resume", 1)]


@pytest.mark.covers("R55")
def test_a_loop_is_woken_and_an_unknown_one_refused(intake: str) -> None:
    at = ("--intake", intake)

    one, every = ctl(*at, "wake", "intake", "poller"), ctl(*at, "wake", "intake", "--json")
    unknown = ctl(*at, "wake", "intake", "kettle")
    unpausable = ctl(*at, "pause", "intake", "leadership", *WHY)
    nobody = ctl(*at, "wake", "kitchen")

    assert (one.status, every.status) == (0, 0)
    assert every.told == {"service": "intake", "part": None}
    assert (unknown.status, unpausable.status, nobody.status) == (1, 1, 2)
    assert "part must be one of" in sentence(unknown)


@pytest.mark.covers("R55")
def test_the_read_only_token_shows_and_changes_nothing(intake: str) -> None:
    looked = ctl("--intake", intake, "status", token=READ_TOKEN)
    acted = ctl("--intake", intake, "pause", "intake", "poller", *WHY, token=READ_TOKEN)

    assert (looked.status, acted.status) == (0, Status.DENIED)
    assert sentence(acted).endswith("denies it: the token is the read-only one")
    assert state(intake, "poller") != "PAUSED"
