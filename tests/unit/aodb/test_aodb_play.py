"""Playing a day into a real mailbox, and the command line around it."""

from contextlib import closing

import pytest

from msgx.codec.encode import encode
from msgx.domain.requests import Wish
from tests.aodb import __main__ as command
from tests.aodb import build_day, play
from tests.aodb.adapter import batches, connect, landed
from tests.unit.codec.test_encode import AT, FORM


@pytest.mark.mysql
@pytest.mark.covers("B13", "B14")
def test_a_day_lands_in_order_with_its_texts_and_with_holes(mailbox_url: str) -> None:
    day = build_day(seed=1, flights=20, messages_per_flight=25)
    heard: list[int] = []

    played = play(day, mailbox_url, on_landed=heard.append)

    ids = [played.ids[message.index] for message in day.messages]
    assert ids == sorted(set(ids))
    assert ids[-1] - ids[0] >= len(ids)  # ids that were used up and rolled back
    assert heard[-1] == len(ids)
    assert landed(day, mailbox_url).ids == played.ids
    with closing(connect(mailbox_url)) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*), COUNT(CMINMSGS_DATE_RECEIVED), COUNT(CMINMSGS_DATE_PROCESSED)"
            " FROM CMINMSGS WHERE CMINMSGS_STATUS = 'VALID'"
        )
        assert cursor.fetchone() == (len(ids), len(ids), 0)


@pytest.mark.mysql
@pytest.mark.covers("US-09")
def test_a_request_in_the_mailbox_is_answered_once(
    mailbox_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = encode(Wish.reference("TLST"), FORM, seqn="000042", at=AT)
    with closing(connect(mailbox_url)) as connection, connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO COUTMSGS (COUTMSGS_CLOB_MSG, COUTMSGS_DATE_INSERTED, ROUTINGID)"
            " VALUES (%s, NOW(), 'AODB')",
            (asked,),
        )
        connection.commit()

        for _ in range(2):
            assert command.main(["answer", mailbox_url, "--flights", "12", "--once"]) == 0

        connection.rollback()
        cursor.execute("SELECT CMINMSGS_CLOB_MSG FROM CMINMSGS")
        ((text,),) = cursor.fetchall()
    assert "<TYPE>TLST</TYPE>" in text
    assert "<STYP>RESP</STYP>" in text
    assert capsys.readouterr().out.count("answered with TLST-RESP") == 1


@pytest.mark.mysql
@pytest.mark.covers("B13", "R11")
def test_a_late_row_becomes_visible_after_higher_ids(mailbox_url: str) -> None:
    day = build_day(seed=1, flights=20)
    late = [message.index for message in day.messages if message.late]
    overtaken: set[int] = set()
    with closing(connect(mailbox_url)) as watcher, watcher.cursor() as cursor:

        def watch(_: int) -> None:
            watcher.commit()
            cursor.execute("SELECT CMINMSGS_CLOB_MSG FROM CMINMSGS")
            visible = {text for (text,) in cursor.fetchall()}
            seen = [day.messages[n].xml in visible for n in range(len(day.messages))]
            highest = max((n for n, there in enumerate(seen) if there), default=-1)
            overtaken.update(n for n in late if n < highest and not seen[n])

        play(day, mailbox_url, on_landed=watch)

    assert overtaken == {n for n in late if day.messages[n].commits_after > n + 1}


@pytest.mark.mysql
def test_a_paced_day_lands_whole(mailbox_url: str) -> None:
    day = build_day(seed=2, flights=12, messages_per_flight=5)

    played = play(day, mailbox_url, speed=1_000_000.0)

    assert played.ids.keys() == {message.index for message in day.messages}


def test_a_late_row_stands_alone_and_its_commit_ends_a_batch() -> None:
    day = build_day(seed=3, flights=60)

    cut = list(batches(day.messages, paced=False))

    assert [m.index for batch in cut for m in batch] == list(range(len(day.messages)))
    last = {batch[-1].index for batch in cut}
    for batch in cut:
        if any(message.late for message in batch):
            assert len(batch) == 1
            assert batch[0].commits_after in last


@pytest.mark.parametrize("url", ["postgresql://h/s", "mysql://host", "mysql:///schema"])
def test_what_is_not_a_mailbox_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="mysql://user:password@host"):
        connect(url)


def test_show_lists_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["show", "--flights", "12", "--label", "protocol: RECS"]) == 0
    assert "DEAD(PROTOCOL)" in capsys.readouterr().out

    assert command.main(["show", "--flights", "12", "--label", "resync", "--xml"]) == 0
    assert "<STYP>DNLD</STYP>" in capsys.readouterr().out

    assert command.main(["show", "--flights", "12", "--flight", "7"]) == 0
    assert '"FLID": "7"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["play", "http://x"], "a mailbox URL has the form"),
        (["play", "mysql://u@h/s", "--speed", "0"], "must be positive"),
        (["play", "mysql://u@127.0.0.1:1/s"], "Can't connect"),
        (["show", "--flights", "3"], "at least 12"),
        (["show", "--flight", "nobody"], "no flight nobody"),
        (["check"], "check needs"),
        (["check", "--api", "file:///x"], "http://"),
    ],
)
def test_a_fault_of_the_user_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert (
        command.main([*arguments, *(() if "--flights" in arguments else ("--flights", "12"))])
        == 1
    )
    assert sentence in capsys.readouterr().err
