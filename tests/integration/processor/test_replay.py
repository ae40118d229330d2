"""Replay of dead messages: what it may overwrite, what it keeps, and what it leaves alone."""

import pytest

from msgx.rpc.v1 import replay_pb2 as pb
from tests.support.calls import WHO
from tests.support.messages import adft, dnld, fdel, flop, fltr, message, stand
from tests.support.processor import Line, refusing
from tests.support.relay import relayed
from tests.support.replaying import DEAD, Operator, audit, operating, verdict_of

_DIE = """
    UPDATE proc_state
       SET state = 'DEAD', error_class = 'PROCESSING', first_error_class = 'PROCESSING',
           finished_at = msgx_now(), backfill_next_at = msgx_now()
     WHERE msg_id = ANY(%s)
"""

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


def estt(time: str, stand: str | None = None) -> str:
    more = "" if stand is None else f"<STND>{stand}</STND>"
    return adft(fltr("1", f"<ESTT>05JAN26{time}</ESTT>{more}"))


def dead_of_a_defect(line: Line, text: str, flid: str = "1") -> int:
    """Let a message die of PROCESSING, as a defect of ours makes it."""
    line.restart(pipeline={"max_attempts": 1, "ladder": ()})
    with refusing(line, flid):
        (dead,) = line.run(text)
    assert line.end(dead)[:2] == ("DEAD", "PROCESSING")
    return dead


@pytest.mark.covers("R35", "R55", "B31", "CLM-3")
def test_a_message_that_died_of_a_defect_is_replayed_under_its_identity(line: Line) -> None:
    line.run(adft(fltr("1")))
    dead = dead_of_a_defect(line, stand("7"))
    with operating(line) as operator:
        assert operator.forecast(dead) == [("APPLIES", "")]

        told = operator.replay(dead)
        line.run()

    assert (told.total, told.replayed, told.refused, told.done) == (1, 1, 0, True)
    assert line.end(dead) == ("SUCCEEDED", None, None)
    row = line.row(dead)
    assert row["identity_key"] == line.one(
        "SELECT identity_key FROM identity_ledger WHERE msg_id = %s", dead
    )
    assert row["first_error_class"] == "PROCESSING"
    assert line.flight().values["STND"] == "7"
    assert audit(line) == [("replay", 1)]
    line.agree()


@pytest.mark.covers("R35", "B30")
def test_a_replay_older_than_what_stands_names_the_newer_source_and_is_refused(
    line: Line,
) -> None:
    line.run(adft(fltr("1")))
    dead = dead_of_a_defect(line, estt("1300", "7"))
    line.restart()
    (newer,) = line.run(flop("ESTT", "<ESTT>05JAN261400</ESTT>"))
    before = line.flight()
    with operating(line) as operator:
        (forecast,) = operator.forecasts(dead)
        told = operator.replay(dead)
    line.run()

    assert verdict_of(forecast) == "NEWER_SOURCE"
    (source,) = forecast.newer
    assert (source.flid, list(source.tags), source.msg_id) == ("1", ["ESTT"], newer)
    assert (told.replayed, told.refused) == (0, 1)
    assert [verdict_of(one) for one in told.left] == ["NEWER_SOURCE"]
    assert line.end(dead)[:2] == ("DEAD", "PROCESSING")
    assert line.flight() == before
    assert audit(line) == [("replay", 0)]


@pytest.mark.covers("R35", "INV-14b", "B30")
def test_with_stale_allowed_only_tags_that_nothing_newer_has_set_are_applied(
    line: Line,
) -> None:
    line.run(adft(fltr("1")))
    dead = dead_of_a_defect(line, estt("1300", "7"))
    line.restart()
    line.run(flop("ESTT", "<ESTT>05JAN261400</ESTT>"))
    newer = line.flight().values["ESTT"]
    with operating(line) as operator:
        (forecast,) = operator.forecasts(dead, allow_stale=True)

        operator.replay(dead, allow_stale=True)
        line.run()

    assert verdict_of(forecast) == "APPLIES"
    assert "ESTT" in forecast.text
    state, _, reason = line.end(dead)
    assert state == "SUCCEEDED"
    assert "FLID 1 ESTT" in str(reason)
    assert line.flight().values["ESTT"] == newer
    assert line.flight().values["STND"] == "7"
    line.agree()


@pytest.mark.covers("R35", "INV-14b")
def test_what_comes_between_forecast_and_attempt_is_newer_too(line: Line) -> None:
    """The journal decides in the transaction of the attempt, not the dry run."""
    line.run(adft(fltr("1")))
    dead = dead_of_a_defect(line, estt("1300"))
    line.restart()
    with operating(line) as operator:
        assert operator.forecast(dead) == [("APPLIES", "")]
        operator.replay(dead)
    # As if the newer one had been at work while the older one was put back.
    line.pg.execute(
        "INSERT INTO flight_journal (flid, state_version, life, msg_id, kind, changes, at)"
        " VALUES ('1', 99, 1, %s, 'CHANGED', '{\"ESTT\": [null, null]}', msgx_now())",
        (dead + 1,),
    )

    line.run()

    state, error_class, reason = line.end(dead)
    assert (state, error_class) == ("DEAD", "PROCESSING")
    assert f"FLID 1 ESTT by {dead + 1}" in str(reason)
    assert "ESTT" not in line.flight().values


@pytest.mark.covers("R35", "INV-21")
def test_a_deletion_takes_nothing_newer_with_it(line: Line) -> None:
    line.run(adft(fltr("1")))
    dead = dead_of_a_defect(line, fdel("1"))
    line.restart()
    line.run(stand("8"))
    with operating(line) as operator:
        (verdict, _), *_ = operator.forecast(dead)
        operator.replay(dead, allow_stale=True)
        line.run()

    assert verdict == "NEWER_SOURCE"
    assert line.end(dead)[0] == "SUCCEEDED"
    assert line.shown()["1"]["STND"] == "8"
    line.agree()


@pytest.mark.covers("R35", "INV-29")
def test_a_flight_that_something_newer_deleted_stays_deleted(line: Line) -> None:
    line.run(adft(fltr("1")))
    dead = dead_of_a_defect(line, estt("1300"))
    line.restart()
    line.run(fdel("1"))
    with operating(line) as operator:
        assert operator.forecast(dead)[0][0] == "NEWER_SOURCE"
        operator.replay(dead, allow_stale=True)
        line.run()

    assert line.end(dead)[0] == "SUCCEEDED"
    assert line.shown() == {}
    line.agree()


@pytest.mark.covers("R35", "INV-15b")
def test_an_old_day_plan_leaves_what_is_newer_alone_and_sets_the_rest(line: Line) -> None:
    plan = dnld(fltr("1", "<STND>1</STND>"), fltr("2", "<STND>2</STND>"))
    line.run(adft(fltr("1"), fltr("2"), fltr("3"), fltr("4")))
    dead = dead_of_a_defect(line, plan, "2")
    line.restart()
    line.run(stand("9", "1"), stand("9", "3"))
    with operating(line) as operator:
        (refused,) = operator.forecasts(dead)
        (allowed,) = operator.forecasts(dead, allow_stale=True)
        operator.replay(dead, allow_stale=True)
        line.run()

    assert verdict_of(refused) == "NEWER_SOURCE"
    assert {source.flid for source in refused.newer} == {"1", "3"}
    assert (verdict_of(allowed), allowed.flights, allowed.removals) == ("APPLIES", 2, 1)
    assert line.end(dead)[0] == "SUCCEEDED"
    stands = {flid: one["STND"] for flid, one in line.shown().items()}
    assert stands == {"1": "9", "2": "2", "3": "9"}
    line.agree()


@pytest.mark.covers("R18", "R35")
def test_a_day_plan_over_its_ratio_is_applied_if_it_deletes_exactly_what_was_approved(
    line: Line,
) -> None:
    line.restart(schd={"max_removal_ratio": 0.1})
    line.run(adft(fltr("1"), fltr("2"), fltr("3")))
    (dead,) = line.run(dnld(fltr("1")))
    with operating(line, schd={"max_removal_ratio": 0.1}) as operator:
        assert operator.forecast(dead)[0][0] == "NEEDS_FORCE"
        assert operator.forecast(dead, force=True)[0][0] == "DIES"
        assert operator.forecast(dead, approve_removals=1)[0][0] == "DIES"
        (forecast,) = operator.forecasts(dead, approve_removals=2)

        operator.replay(dead, approve_removals=2)
        line.run()

    assert (verdict_of(forecast), forecast.removals) == ("APPLIES", 2)
    assert line.end(dead)[0] == "SUCCEEDED"
    assert set(line.shown()) == {"1"}
    line.agree()


@pytest.mark.covers("R35", "R01")
def test_a_forced_conflict_is_bound_apart_and_the_older_binding_stays(line: Line) -> None:
    line.run(adft(fltr("1")))
    (first, dead) = line.run(stand("7", seqn="901"), stand("8", seqn="901"))
    assert line.end(dead)[:2] == ("DEAD", "IDENTITY_CONFLICT")
    with operating(line) as operator:
        assert operator.forecast(dead)[0][0] == "NEEDS_FORCE"
        assert operator.replay(dead).refused == 1
        operator.replay(dead, force=True)
        line.run()

    assert line.end(dead)[0] == "SUCCEEDED"
    assert line.flight().values["STND"] == "8"
    bound = line.rows(
        "SELECT identity_key AS key, msg_id FROM identity_ledger WHERE msg_id > 1"
    )
    key = "AODB|FLOP|STND|901"
    assert {row["key"]: row["msg_id"] for row in bound} == {key: first, f"{key}#{dead}": dead}
    assert line.row(dead)["identity_key"] == f"{key}#{dead}"
    assert line.end(line.run(stand("7", seqn="901"))[0])[2] == f"duplicate-of:{first}"


@pytest.mark.covers("R38", "R35")
def test_the_text_that_is_kept_is_read_when_the_mailbox_has_it_no_more(line: Line) -> None:
    line.run(adft(fltr("1")))
    dead = dead_of_a_defect(line, stand("7"))
    line.restart()
    line.forget(dead)
    with operating(line) as operator:
        operator.replay(dead)
        line.run()

    assert line.end(dead)[0] == "SUCCEEDED"
    assert line.flight().values["STND"] == "7"


@pytest.mark.covers("R38", "R35")
def test_while_the_mailbox_is_away_what_is_kept_is_shown_and_nothing_is_replayed(
    line: Line,
) -> None:
    (dead,) = line.run("not XML")
    with relayed(line.places.mailbox) as (relay, url), operating(line, mailbox_url=url) as one:
        relay.cut()

        shown = one.show(dead)
        request = pb.ReplayRequest(
            admin=WHO,
            messages=pb.MessageIds(ids=[dead]),
            options=pb.ReplayOptions(force=True),
        )
        code, _ = one.refusal("Replay", request)

    assert (shown.raw_text, shown.raw_missing) == ("not XML", False)
    assert code == "UNAVAILABLE"
    assert line.end(dead)[0] == "DEAD"


@pytest.mark.covers("R35", "R38")
def test_a_message_without_a_text_is_left_dead(line: Line, operator: Operator) -> None:
    line.register(7)
    line.run()

    told = operator.replay(7, force=True)

    assert [(verdict_of(one), one.text) for one in told.left] == [
        ("RAW_MISSING", "raw-missing")
    ]
    assert line.end(7)[0] == "DEAD"


@pytest.mark.covers("R35", "R12")
def test_only_dead_messages_are_replayed(line: Line, operator: Operator) -> None:
    done, waits = line.run(adft(fltr("1")))[0], line.land(stand("7"))

    told = operator.replay(done, waits, 999)

    assert [verdict_of(one) for one in told.left] == ["NOT_DEAD"] * 3
    assert line.end(done)[0] == "SUCCEEDED"
    assert line.end(waits)[0] == "PENDING"


@pytest.mark.covers("R35", "R40", "R58")
def test_a_forecast_is_what_the_replay_comes_to(line: Line) -> None:
    """Of messages that once met a defect: what they would do now, and what they then do."""
    line.run(adft(fltr("1")))
    (first,) = line.run(stand("7", seqn="901"))
    texts = {
        "nothing new": stand("7"),
        "no such flight": stand("7", "2"),
        "a repetition": stand("7", seqn="901"),
        "a conflict": stand("8", seqn="901"),
        "of no interest": message("CITY", "DNLD", "<CITY/>"),
        "wrong": flop("STND", "<GATE>1</GATE>"),
        "reference data": message("GLST", "DEL", "<RECS>1</RECS><GLST><GCOD>1</GCOD></GLST>"),
    }
    with operating(line) as operator:
        ids = dict(zip(texts, (line.land(text) for text in texts.values()), strict=True))
        line.pg.execute(_DIE, (list(ids.values()),))
        told = dict(zip(ids, operator.forecast(*ids.values()), strict=True))
        (missing,) = operator.forecast(999)

        operator.replay(*ids.values())
        while line.row(ids["reference data"])["route"] is None:
            line.worker.step()

    assert told.pop("wrong")[0] == "DIES"
    assert told.pop("a conflict") == ("DIES", f"IDENTITY_CONFLICT: conflicts-with:{first}")
    assert told == {
        "nothing new": ("NO_CHANGE", "no-change"),
        "no such flight": ("SKIPPED", "no-flight:2"),
        "a repetition": ("SKIPPED", f"duplicate-of:{first}"),
        "of no interest": ("SKIPPED", "unsupported"),
        "reference data": ("NOT_JUDGED", "reference data"),
    }
    assert missing == ("NOT_DEAD", "there is no such message")
    ended = {name: line.end(msg_id) for name, msg_id in ids.items()}
    assert ended.pop("wrong")[:2] == ("DEAD", "PROTOCOL")
    assert ended.pop("a conflict")[:2] == ("DEAD", "IDENTITY_CONFLICT")
    assert ended == {
        "nothing new": ("SUCCEEDED", None, "no-change"),
        "no such flight": ("SKIPPED", None, "no-flight:2"),
        "a repetition": ("SKIPPED", None, f"duplicate-of:{first}"),
        "of no interest": ("SKIPPED", None, "unsupported"),
        "reference data": ("PENDING", None, None),  # its service has it
    }


@pytest.mark.covers("R05", "B29")
def test_tries_after_a_replay_are_kept_beside_those_before(line: Line) -> None:
    line.run(adft(fltr("1")))
    dead = dead_of_a_defect(line, stand("7"))
    with operating(line) as operator, refusing(line, "1"):
        operator.replay(dead)
        line.run()
        shown = operator.show(dead)

    assert [one.number for one in shown.attempts] == [1, 2]
    assert line.row(dead)["attempts"] == 1
    assert line.one("SELECT count(*) FROM dead_letter") == 1


@pytest.mark.covers("R35")
def test_lists_groups_and_totals_are_what_sql_says(line: Line, operator: Operator) -> None:
    line.run(adft(fltr("1")))
    line.run(*(flop("STND", "<GATE>1</GATE>", str(flid)) for flid in (1, 2, 3)))
    line.run("not XML", "not XML either", dnld())

    page = operator.listed(limit=2, state=DEAD)
    rest = operator.listed(limit=9, after=page.messages[-1].msg_id, state=DEAD)
    grouped = operator.call("GroupFailures", pb.GroupFailuresRequest(limit=1))
    (largest,) = grouped.groups
    of_it = operator.listed(fingerprint=largest.fingerprint)

    assert (len(page.messages), page.total, len(rest.messages)) == (2, 6, 4)
    assert operator.listed(error_class="MALFORMED", state=DEAD).total == 2
    assert operator.listed(flid="2").total == 1
    assert operator.listed(type="SCHD", styp="DNLD").total == 1
    assert (largest.error_class, largest.count, of_it.total) == ("PROTOCOL", 3, 3)
    assert grouped.total_messages == 6
    assert grouped.total_groups == line.one(
        "SELECT count(DISTINCT error_fingerprint) FROM proc_state WHERE state = 'DEAD'"
    )


@pytest.mark.covers("R35", "R37")
def test_a_higher_limit_of_tries_revives_nothing(line: Line) -> None:
    line.run(adft(fltr("1")))
    dead = dead_of_a_defect(line, stand("7"))
    line.restart(pipeline={"max_attempts": 2, "ladder": ("PT1S",)})

    line.run(stand("8"))

    assert line.end(dead)[:2] == ("DEAD", "PROCESSING")
    assert line.flight().values["STND"] == "8"
