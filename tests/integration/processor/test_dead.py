"""Messages that die: at once, with their text, and nobody else's business (R38, R46)."""

import json
from datetime import timedelta

import pytest

from msgx.runtime.logs import JsonLines
from tests.support.messages import adft, dnld, flop, fltr, message, stand
from tests.support.processor import Line
from tests.support.relay import relayed

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


@pytest.mark.covers("US-03", "B25", "R46", "R38", "INV-19", "INV-30")
@pytest.mark.parametrize(
    ("text", "error_class"),
    [
        ("not XML at all", "MALFORMED"),
        ("<MSG><META/></MSG>", "MALFORMED"),
        ('<!DOCTYPE MSG [<!ENTITY e SYSTEM "file:///etc/hostname">]><MSG/>', "MALFORMED"),
        (message("FLOP", "STND", ""), "MALFORMED"),
        (stand("7", "0"), "PROTOCOL"),
        (flop("ESTT", "<ESTT>32JAN261200</ESTT>", "1"), "PROTOCOL"),
        (flop("STND", "<GATE>1</GATE>", "1"), "PROTOCOL"),
        (dnld(), "PROTOCOL"),
        (dnld(fltr("1"), recs=2), "PROTOCOL"),
        (dnld(fltr("1"), fltr("1")), "PROTOCOL"),
        (adft(fltr("1", sodt="06JAN261200")), "PROTOCOL"),
        (dnld(fltr("1", sodt="06JAN261200")), "PROTOCOL"),
    ],
)
def test_a_broken_message_dies_at_once_and_its_text_is_kept(
    line: Line, text: str, error_class: str
) -> None:
    line.run(adft(fltr("1")))

    dead, after = line.run(text, stand("8", "1"))

    state, found, reason = line.end(dead)
    assert (state, found) == ("DEAD", error_class)
    assert reason
    row = line.row(dead)
    assert row["attempts"] == 1
    assert row["first_error_class"] == error_class
    assert row["backfill_next_at"] is not None
    assert line.rows("SELECT msg_id, raw, raw_altered FROM dead_letter") == [
        {"msg_id": dead, "raw": text, "raw_altered": False}
    ]
    attempts = line.rows("SELECT attempt, error_class, error FROM proc_attempt")
    assert attempts == [{"attempt": 1, "error_class": error_class, "error": reason}]
    assert line.end(after)[0] == "SUCCEEDED"
    line.agree()


@pytest.mark.covers("R46", "US-02", "R38")
def test_a_mailbox_row_that_is_gone_is_dead_as_raw_missing(line: Line) -> None:
    line.register(7)

    line.run()

    assert line.end(7) == ("DEAD", "MALFORMED", "raw-missing")
    assert line.one("SELECT raw FROM dead_letter WHERE msg_id = 7") is None


@pytest.mark.covers("R26", "R38")
def test_a_text_that_no_column_takes_is_dead_and_kept_as_near_as_can_be(line: Line) -> None:
    (dead,) = line.run("<MSG>a\0b</MSG>")

    assert line.end(dead)[:2] == ("DEAD", "MALFORMED")
    assert line.rows("SELECT raw, raw_altered FROM dead_letter") == [
        {"raw": "<MSG>a\N{SYMBOL FOR NULL}b</MSG>", "raw_altered": True}
    ]


@pytest.mark.covers("R37", "R46")
def test_a_body_above_the_limit_is_dead_without_being_loaded(line: Line) -> None:
    line.restart(max_message_bytes=1000)

    large, fits = line.run(adft(fltr("1", f"<STND>{'备' * 300}</STND>")), adft(fltr("2")))

    state, error_class, reason = line.end(large)
    assert (state, error_class) == ("DEAD", "MALFORMED")
    assert "1000 allowed" in str(reason)
    assert line.one("SELECT raw FROM dead_letter") is None
    assert line.end(fits)[0] == "SUCCEEDED"


@pytest.mark.covers("R38")
def test_texts_of_the_dead_are_not_kept_where_that_is_not_wanted(line: Line) -> None:
    line.restart(keep_raw=False)

    line.run("not XML at all")

    assert line.rows("SELECT raw FROM dead_letter") == [{"raw": None}]


@pytest.mark.covers("OPS-1", "B76", "R46")
def test_a_refusal_that_quotes_the_row_tells_nobody_what_it_held(
    line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    line.pg.execute("ALTER TABLE flight_schd ADD CONSTRAINT odd CHECK (stnd <> 'secret-word')")
    try:
        (failed,) = line.run(adft(fltr("1", "<STND>secret-word</STND>")))
    finally:
        line.pg.execute("ALTER TABLE flight_schd DROP CONSTRAINT odd")

    assert line.end(failed)[:2] == ("FAILED", "PROCESSING")
    assert "23514" in str(line.end(failed)[2])
    assert "secret-word" not in str(line.row(failed))
    lines = [JsonLines("processor").format(record) for record in caplog.records]
    (told,) = [json.loads(text) for text in lines if "processing fault" in text]
    assert "secret-word" not in "".join(lines)
    assert told["error"] == "CheckViolation"
    assert "CheckViolation (23514)" in told["trace"]
    assert "process.py" in told["trace"]


@pytest.mark.covers("R42", "R38", "INV-3", "INV-24")
def test_a_text_that_vanishes_after_the_commit_ends_with_its_effect_shown_and_released(
    line: Line,
) -> None:
    with relayed(line.places.redis) as (relay, url):
        line.start(redis_url=url, epoch_check=timedelta(hours=1))
        line.run(adft(fltr("1")))
        line.worker.step()
        relay.cut()
        head, after = line.land(stand("7", "1")), line.land(adft(fltr("2")))
        line.worker.step()
        assert line.flight().state_version == 2
        line.forget(head)
        relay.restore()
        line.release_head()

        line.run()

    assert line.end(head) == ("DEAD", "MALFORMED", "raw-missing")
    assert line.end(after)[0] == "SUCCEEDED"
    assert line.shown()["1"]["STND"] == "7"
    assert [event["released_at"] is None for event in line.events()] == [False] * 3
    line.agree()
