"""`msgxctl decode`: what msgx would read from a file, without any server."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.support.ctl import ctl, sentence

SAMPLES: Final = Path(__file__).parents[2] / "support" / "samples"
META: Final = (
    "<META><SNDR>AODB</SNDR><SEQN>7</SEQN><DTTM>20260105083000</DTTM>"
    "<TYPE>FLOP</TYPE><STYP>{styp}</STYP></META>"
)
BAD_TIME: Final = (
    "<MSG>"
    + META.format(styp="ESTT")
    + "<FLOP><FLID>7</FLID><ESTT>99JAN261200</ESTT></FLOP></MSG>"
)


@pytest.mark.parametrize(
    "sample", sorted(SAMPLES.glob("*.xml")), ids=lambda path: str(path.stem)
)
def test_every_sample_is_read_as_the_codec_reads_it(sample: Path) -> None:
    expected = json.loads(sample.with_suffix(".json").read_text("utf-8"))

    done = ctl("decode", "--json", sample)

    (one,) = done.told
    assert one["identity"]
    assert len(one["digest"]) == 64
    assert (done.status == 0) == (one["error_class"] is None)
    assert (one["payload"] is None) == (one["error_class"] is not None)
    assert expected  # each sample has its expected payload beside it
    assert ctl("decode", sample).status == done.status


def test_a_file_shows_identity_digest_values_and_what_is_not_read() -> None:
    done = ctl("decode", SAMPLES / "schd-dnld.xml")

    assert done.status == 0
    for told in ("AODB|SCHD|DNLD|001043", "FLNO", "CA1234", "NEWT", "day plan"):
        assert told in done.out


@pytest.mark.parametrize(
    ("text", "error_class", "words"),
    [
        ("<MSG>", "MALFORMED", "end tag"),
        ("", "MALFORMED", "no element"),
        (
            '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><MSG>&x;</MSG>',
            "MALFORMED",
            "DOCTYPE",
        ),
        ("<MSG><META/></MSG>", "MALFORMED", "SNDR is missing"),
        (BAD_TIME, "PROTOCOL", "ESTT"),
    ],
)
@pytest.mark.covers("B76", "R58")
def test_what_would_die_is_refused_with_class_and_reason(
    tmp_path: Path, text: str, error_class: str, words: str
) -> None:
    file = tmp_path / "message.xml"
    file.write_text(text)

    shown, told = ctl("decode", file), ctl("decode", "--json", file)

    assert (shown.status, told.status) == (1, 1)
    assert f"DEAD({error_class})" in shown.out
    (one,) = told.told
    assert one["error_class"] == error_class
    assert words in one["error"]
    assert "1 of 1 would be DEAD" in sentence(told)


def test_an_unsupported_message_is_no_failure(tmp_path: Path) -> None:
    file = tmp_path / "message.xml"
    file.write_text("<MSG>" + META.format(styp="QQQQ") + "<FLOP/></MSG>")

    done = ctl("decode", file)

    assert done.status == 0
    assert "SKIPPED(unsupported)" in done.out


@pytest.mark.covers("B76")
def test_hostile_text_does_not_reach_the_terminal(tmp_path: Path) -> None:
    hostile = "[red]x[/red]\u202e\u009b31m\u200b"
    file = tmp_path / "m\x1b[2J.xml"
    file.write_text(
        "<MSG>" + META.format(styp="REMC") + f"<FLOP><FLID>7</FLID><REMC>{hostile}</REMC>"
        f"<{'X' * 5}>{hostile}</{'X' * 5}></FLOP></MSG>"
    )

    shown, told = ctl("decode", file), ctl("decode", "--json", file)

    assert shown.status == 0
    assert "[red]x[/red]" in shown.out  # no markup of ours either
    for output in (shown.out, told.out):
        assert all(c.isprintable() or c == "\n" for c in output)
    assert told.out.isascii()
    assert told.told[0]["payload"]["records"][0]["told"]["REMC"] == hostile


def test_a_declared_encoding_is_a_warning_since_only_the_api_minds(tmp_path: Path) -> None:
    file = tmp_path / "message.xml"
    text = (SAMPLES / "flop-estt.xml").read_text("utf-8")
    body = text[text.index("<MSG") :]
    file.write_text(f'<?xml version="1.0" encoding="GBK"?>{body}')

    done = ctl("decode", "--json", file)

    assert done.status == 0
    assert "GBK" in done.told[0]["warnings"][0]


def test_standard_input_is_a_file_too() -> None:
    done = ctl("decode", "--json", "-", stdin=(SAMPLES / "flop-estt.xml").read_bytes())

    assert done.told[0]["identity"] == "AODB|FLOP|ESTT|001012"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("decode", "/nonexistent.xml"), "cannot be read: no such file or directory"),
        (("decode", "/"), "is a directory"),
        (("decode", "--zone", "Mars/Base", SAMPLES / "flop-estt.xml"), "time zone"),
    ],
)
def test_a_file_or_zone_that_is_none_is_one_sentence(
    arguments: tuple[object, ...], words: str
) -> None:
    done = ctl(*arguments)

    assert done.status == 2
    assert words in sentence(done)


def test_bytes_that_are_no_utf8_are_told(tmp_path: Path) -> None:
    file = tmp_path / "message.xml"
    file.write_bytes(b"<MSG>\xff</MSG>")

    done = ctl("decode", "--json", file)

    assert done.status == 1
    assert done.told[0]["error"] == "no UTF-8 at byte 6"
