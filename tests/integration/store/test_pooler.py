"""A pooler that lends sessions by the transaction is refused; one in session mode is not."""

from contextlib import closing
from datetime import timedelta

import pytest

from msgx.domain.failure import Away, Unfit
from msgx.runtime.leadership import Leadership, Standby
from msgx.store import pooler
from msgx.store.connect import Connection, connect
from msgx.store.service_term import Service
from tests.support import patient
from tests.support.pooler import pooling
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.covers("R13")]

SOON = timedelta(seconds=1)


def leader(dsn: str) -> Leadership:
    return Leadership(
        patient.database(dsn), patient.LEADERSHIP, Service.PROCESSOR, environment="test"
    )


@pytest.mark.parametrize("in_turn", [False, True], ids=["last", "in turn"])
@pytest.mark.parametrize("size", [2, 5])
def test_a_pooler_that_lends_by_the_transaction_is_refused_in_one_sentence(
    pg_dsn: str, pg: Connection, size: int, in_turn: bool
) -> None:
    with pooling(pg_dsn, "transaction", size=size, in_turn=in_turn) as dsn:
        leadership = leader(dsn)

        with pytest.raises(Unfit) as refused:
            leadership.hold()

    assert str(refused.value) == pooler.REFUSAL
    assert not leadership.leads
    assert pg.execute("SELECT max(term) FROM service_term").fetchone() == (0,)


def test_one_that_has_too_few_to_lend_is_refused_when_it_was_waited_for_twice(
    pg_dsn: str,
) -> None:
    with pooling(pg_dsn, "transaction", size=1) as dsn:
        database = patient.database(dsn).model_copy(update={"connect_timeout": SOON})

        def is_refused() -> bool:
            """Tell so, unless this machine was too slow to be answered at all."""
            try:
                pooler.refuse(database)
            except Unfit:
                return True
            except Away:
                return False
            raise AssertionError("not refused")

        until(is_refused, "it is refused")


@pytest.mark.covers("R13", "B42")
def test_one_that_was_late_once_is_asked_again(pg_dsn: str) -> None:
    def is_accepted() -> bool:
        """Tell whether it is not refused; this machine may be late once more."""
        with pooling(pg_dsn, "session", deaf=1) as dsn:
            database = patient.database(dsn).model_copy(update={"connect_timeout": SOON})
            try:
                pooler.refuse(database)
            except (Unfit, Away):
                return False
            return True

    until(is_accepted, "it is accepted")


def test_one_that_lends_by_the_statement_is_refused_too(pg_dsn: str) -> None:
    with pooling(pg_dsn, "statement") as dsn, pytest.raises(Unfit):
        pooler.refuse(patient.database(dsn))


def test_one_that_has_sessions_at_rest_is_found_out_too(pg_dsn: str) -> None:
    with pooling(pg_dsn, "transaction", size=5, in_turn=True) as dsn:
        warm = [connect(patient.database(dsn), name=f"warm-{number}") for number in range(3)]
        for one in warm:
            one.execute("BEGIN")
        for one in warm:
            one.execute("COMMIT")
            one.close()

        with pytest.raises(Unfit):
            pooler.refuse(patient.database(dsn))


def test_a_pooler_in_session_mode_leads_and_gives_its_lock_back(pg_dsn: str) -> None:
    with pooling(pg_dsn, "session") as dsn:
        first, second = leader(dsn), leader(dsn)
        with closing(first.hold()) as conn:
            (told,) = conn.execute("SHOW idle_session_timeout").fetchone() or (None,)
            with pytest.raises(Standby):
                second.hold()

        def takes_over() -> bool:
            try:
                return second.hold() is not None
            except Standby:
                return False

        until(takes_over, "the second one leads")
        second.lose()

    assert told == "2min"


def test_a_direct_connection_is_accepted_and_a_server_that_is_away_is_no_verdict(
    pg_dsn: str,
) -> None:
    pooler.refuse(patient.database(pg_dsn))

    with pytest.raises(Away):
        pooler.refuse(patient.database("postgresql://user:secret-word@127.0.0.1:9/none"))
