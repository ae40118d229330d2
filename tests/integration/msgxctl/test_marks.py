"""`msgxctl abandoned`, asked of intake itself."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from msgx import clock
from msgx.domain.marking import Abandonment
from msgx.runtime.leadership import Leadership
from msgx.settings import Database
from msgx.settings import Leadership as LeadershipSettings
from msgx.store.service_term import Service
from msgxctl.failure import Status
from tests.support.ctl import WHY, Ended, ctl, sentence
from tests.support.intake import answering, give_up, land_many, owe

pytestmark = [pytest.mark.pg]

Pg = psycopg.Connection[Any]
REOPEN = ("abandoned", "reopen")


@pytest.fixture
def leadership(pg_dsn: str) -> Iterator[Leadership]:
    leads = Leadership(
        Database(dsn=SecretStr(pg_dsn)),
        LeadershipSettings(),
        Service.INTAKE,
        environment="test",
    )
    leads.hold()
    yield leads
    leads.lose()


@pytest.fixture
def intake(pg_dsn: str, leadership: Leadership) -> Iterator[str]:
    with answering(pg_dsn, leadership) as port:
        yield f"127.0.0.1:{port}"


def given_up(pg: Pg) -> list[int]:
    rows = pg.execute(
        "SELECT msg_id FROM proc_state WHERE backfill_abandoned_at IS NOT NULL ORDER BY msg_id"
    )
    return [row[0] for row in rows.fetchall()]


def audited(pg: Pg) -> list[tuple[Any, ...]]:
    return pg.execute(
        "SELECT operator, reason, action, affected FROM admin_audit ORDER BY audit_id"
    ).fetchall()


@pytest.mark.covers("R55")
def test_the_list_shows_each_mark_and_counts_all(pg: Pg, intake: str) -> None:
    give_up(pg, range(1, 6))
    give_up(pg, range(6, 8), Abandonment.MISSING_ROW)

    shown = ctl("--intake", intake, "abandoned", "list", "--limit", 3)
    told = ctl("--intake", intake, "abandoned", "list", "--json", "--why", "MISSING_ROW")

    assert (shown.status, told.status) == (0, 0)
    assert "3 of 7 marks given up: 5 TRANSIENT_DEADLINE, 2 MISSING_ROW" in shown.out
    assert [one["msg_id"] for one in told.told["marks"]] == [6, 7]
    assert told.told["total"] == 2
    assert told.told["counts"][0]["reason"] == "MISSING_ROW"


@pytest.mark.covers("R55", "R44")
def test_all_pages_are_fetched_on_request(pg: Pg, intake: str) -> None:
    pg.execute(
        "INSERT INTO proc_state (msg_id, state, enqueued_at, updated_at, finished_at,"
        " backfill_abandoned_at, backfill_abandoned_reason)"
        " SELECT n, 'SKIPPED', now(), now(), now(), now(), 'MISSING_ROW'"
        " FROM generate_series(1, 2345) n"
    )

    told = ctl("--intake", intake, "abandoned", "list", "--all", "--json").told

    assert [one["msg_id"] for one in told["marks"]] == list(range(1, 2346))
    assert told["total"] == 2345


@pytest.mark.covers("R55", "R35")
def test_reopening_by_id_is_kept_with_who_and_why(pg: Pg, intake: str) -> None:
    give_up(pg, range(1, 4))

    done = ctl("--intake", intake, "--operator", "wei", *REOPEN, 1, 3, *WHY)

    assert done.status == 0
    assert "2 marks are owed again" in done.out
    assert given_up(pg) == [2]
    assert audited(pg) == [("wei", "a test", "reopen", 2)]


@pytest.mark.covers("R55")
def test_an_id_that_is_not_given_up_is_named_with_its_standing_and_status_1(
    pg: Pg, intake: str
) -> None:
    give_up(pg, range(1, 2))
    owe(pg, 2, finished_at=clock.now())

    done = ctl("--intake", intake, *REOPEN, 1, 2, 99, *WHY, "--json")

    assert done.status == Status.FAILED
    assert done.told == {
        "affected": 1,
        "remaining": 0,
        "not_reopened": [
            {"msg_id": 2, "standing": "OWED"},
            {"msg_id": 99, "standing": "UNKNOWN"},
        ],
    }


@pytest.mark.covers("R55")
def test_reopening_by_filter_asks_back_and_no_answer_is_no(pg: Pg, intake: str) -> None:
    give_up(pg, range(1, 4))
    matching = ("--intake", intake, *REOPEN, "--matching", *WHY)

    silent = ctl(*matching)
    refused = ctl(*matching, stdin=b"n\n")
    untouched = given_up(pg)
    agreed = ctl(*matching, "--to", 2, stdin=b"y\n")
    rest = ctl(*matching, "--yes")

    assert (silent.status, refused.status) == (Status.USAGE, Status.FAILED)
    assert untouched == [1, 2, 3]
    assert "2 marks are owed again" in agreed.out
    assert (rest.status, given_up(pg)) == (0, [])
    assert "1 marks are owed again" in rest.out


@pytest.mark.parametrize(
    "arguments", [(), (1, "--matching"), (1, "--why", "MISSING_ROW"), (1, "--reason", " ")]
)
def test_what_is_meant_must_be_clear(
    pg: Pg, intake: str, arguments: tuple[object, ...]
) -> None:
    give_up(pg, range(1, 2))

    done = ctl("--intake", intake, *REOPEN, *WHY, *arguments)

    assert done.status == Status.USAGE
    assert given_up(pg) == [1]


@pytest.mark.covers("R55")
@pytest.mark.parametrize("token", ["", "another-token-than-the-one"])
def test_a_missing_or_wrong_token_is_denied(pg: Pg, intake: str, token: str) -> None:
    give_up(pg, range(1, 2))

    looked: Ended = ctl("--intake", intake, "abandoned", "list", token=token)
    acted = ctl("--intake", intake, *REOPEN, 1, *WHY, token=token)

    assert (looked.status, acted.status) == (Status.DENIED, Status.DENIED)
    assert "denies it" in sentence(looked)
    assert given_up(pg) == [1]


@pytest.mark.covers("R14", "R55")
def test_of_several_instances_the_leading_one_acts(pg: Pg, pg_dsn: str, intake: str) -> None:
    give_up(pg, range(1, 3))
    second = Leadership(
        Database(dsn=SecretStr(pg_dsn)),
        LeadershipSettings(),
        Service.INTAKE,
        environment="test",
    )

    with answering(pg_dsn, second) as port:
        standby = f"127.0.0.1:{port}"
        alone = ctl("--intake", standby, *REOPEN, 1, *WHY)
        both = ctl("--intake", f"127.0.0.1:1,{standby},{intake}", *REOPEN, 1, *WHY)
        neither = ctl("--intake", f"127.0.0.1:1,{standby}", *REOPEN, 2, *WHY)

    assert (alone.status, both.status, neither.status) == (1, 0, 1)
    assert sentence(alone) == "intake refuses: this intake does not lead"
    assert sentence(neither) == sentence(alone)
    assert given_up(pg) == [2]


def test_a_service_that_cannot_now_is_one_sentence_and_status_3(
    pg: Pg, pg_dsn: str, leadership: Leadership
) -> None:
    short = timedelta(milliseconds=200)
    with answering(pg_dsn, leadership, lock_timeout=short) as port, pg.transaction():
        pg.execute("LOCK TABLE proc_state")

        unable = ctl("--intake", f"127.0.0.1:{port}", "abandoned", "list")

    assert unable.status == Status.AWAY
    assert "cannot do it now" in sentence(unable)


def test_a_service_that_never_can_is_one_sentence_and_status_1(intake: str, pg: Pg) -> None:
    pg.execute("ALTER TABLE proc_state RENAME TO elsewhere")

    unable = ctl("--intake", intake, "abandoned", "list")

    assert unable.status == Status.FAILED
    assert "a defect" in sentence(unable)


@pytest.mark.mysql
@pytest.mark.covers("R52")
def test_confirmed_marks_that_are_gone_are_listed(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, leadership: Leadership
) -> None:
    land_many(adapter, range(1, 31))
    for msg_id in (2, 3, 25):
        owe(pg, msg_id, finished_at=clock.now())
    pg.execute("UPDATE proc_state SET backfill_at = now(), backfill_next_at = NULL")

    with answering(pg_dsn, leadership, mailbox_url, window=10) as port:
        at = ("--intake", f"127.0.0.1:{port}", "abandoned", "returned")
        shown, told, part = (
            ctl(*at),
            ctl(*at, "--json"),
            ctl(*at, "--from", 3, "--to", 9, "--json"),
        )

    assert shown.status == 0
    assert "3 marks that were confirmed are gone" in shown.out
    assert [one["msg_id"] for one in told.told["marks"]] == [2, 3, 25]
    assert [one["msg_id"] for one in part.told["marks"]] == [3]
