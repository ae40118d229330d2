"""What is refused before a message has an identity, and what must not be refused."""

import subprocess
import sys
from pathlib import Path

import pytest

from msgx.codec.decode import Decoder
from msgx.codec.wellformed import WrongEncoding, check_wellformed
from msgx.domain.failure import ErrorClass, Fault
from msgx.domain.message import Flop
from tests.unit.codec.messages import (
    DECODER,
    SHANGHAI,
    decode,
    fault,
    flop,
    fltr,
    malformed,
    message,
    package,
    record,
    reference_package,
)

GOOD = flop("REMC", "<REMC>北京</REMC>")
LAUGHS = "<!DOCTYPE l [<!ENTITY a0 'ha'>" + "".join(
    f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12)
)
BLOWUP = f"<!DOCTYPE l [<!ENTITY a '{'x' * 600}'>]>"


def refused_body(body: bytes | str) -> str:
    with pytest.raises(Fault) as raised:
        check_wellformed(body)
    assert raised.value.error_class is ErrorClass.MALFORMED
    return raised.value.text


@pytest.mark.covers("B25")
@pytest.mark.parametrize(
    "text",
    ["", " \r\n", "hello", "{}", "<", "<MSG>", "<MSG></GSM>", "<MSG/><MSG/>", "<MSG/>x", "&",
     "<MSG a=1/>", "<MSG a='1' a='2'/>", "<MSG><a:b/></MSG>", "<MSG>&#0;</MSG>", "<MSG/>\0",
     "<?xml version='1.0'?>", "<?xml encoding='UTF-8'?><MSG/>", "<MSG><![CDATA[</MSG>"],
)  # fmt: skip
def test_what_is_not_xml_is_malformed_on_both_ways_in(text: str) -> None:
    assert malformed(text)
    assert refused_body(text)
    assert refused_body(text.encode())


def test_the_reason_says_line_column_and_tag_and_not_the_text() -> None:
    text = malformed("<MSG>\n<META>\n  <SNDR>secret</SNDX></META></MSG>")

    assert "line 3, column" in text
    assert "in SNDR" in text
    assert "secret" not in text


@pytest.mark.covers("B82")
@pytest.mark.parametrize("layout", ["\n", ""])
def test_a_control_character_in_a_package_names_its_flight(layout: str) -> None:
    flights = [fltr(f"{layout}<REMC>中文{n}</REMC>{layout}", n) for n in range(1, 901)]
    flights[416] = flights[416].replace("中文", "中\x08文")

    text = malformed(package(*flights).replace("<FLTR>", f"{layout}<FLTR>"))

    assert "forbidden character 0x08" in text
    assert "in REMC, FLTR 417 (FLID 417)" in text
    if layout:
        assert f"line {1 + 416 * 3 + 2}, column 8" in text


@pytest.mark.covers("B82")
def test_a_broken_end_tag_in_a_package_names_its_flight() -> None:
    flights = [fltr(f"<REMC>中文{n}</REMC>", n) for n in range(1, 901)]
    flights[416] = flights[416].replace("</REMC>", "</REMX>")

    text = malformed(package(*flights))

    assert "end tag without its start tag" in text
    assert "FLTR 417 (FLID 417)" in text


@pytest.mark.covers("B82", "US-13")
def test_a_control_character_in_reference_data_names_its_record() -> None:
    records = [f"<GCOD>{n}</GCOD><GTML>T5</GTML>" for n in range(1, 901)]
    records[416] = records[416].replace("T5", "T\x085")

    text = malformed(reference_package("GLST", "DNLD", *records))

    assert "forbidden character 0x08" in text
    assert text.endswith("in GTML, GLST 417")


@pytest.mark.covers("R26")
@pytest.mark.parametrize("character", [*map(chr, range(9)), "\x0b", "\x1f", "\ufffe", "\uffff"])
def test_a_control_character_is_malformed_raw_and_as_a_reference(character: str) -> None:
    raw = malformed(flop("REMC", f"<REMC>a{character}b</REMC>"))
    reference = malformed(flop("REMC", f"<REMC>a&#{ord(character)};b</REMC>"))

    assert f"0x{ord(character):02X} at line 1" in raw
    assert "in REMC, FLOP 1 (FLID 700001)" in raw
    assert "in REMC" in reference


@pytest.mark.covers("R26")
@pytest.mark.parametrize("surrogate", ["\ud83d", "\udc00"])
def test_a_lone_surrogate_is_malformed(surrogate: str) -> None:
    assert "lone surrogate at line 1, column" in malformed(GOOD.replace("北", surrogate))
    assert refused_body(GOOD.replace("北", surrogate))


def test_characters_beyond_the_first_plane_are_kept() -> None:
    assert record(flop("REMC", "<REMC>𠜎😀&#x2070E;</REMC>")).told == {"REMC": "𠜎😀𠜎"}


@pytest.mark.covers("B76", "R26")
@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE MSG SYSTEM 'file:///etc/hostname'>",
        "<!DOCTYPE MSG [<!ENTITY h SYSTEM 'file:///etc/hostname'>]>",
        "<!DOCTYPE MSG PUBLIC '-//x//y' 'http://127.0.0.1:9/x.dtd'>",
        "<!DOCTYPE MSG [<!ENTITY % p SYSTEM 'http://127.0.0.1:9/x'> %p;]>",
        "<!-- a --> <?pi x?>\n<!DOCTYPE MSG>",
    ],
)
@pytest.mark.parametrize("lead", ["", "\ufeff", "<?xml version='1.0' encoding='UTF-8'?>\n"])
def test_a_doctype_is_refused_on_both_ways_in(doctype: str, lead: str) -> None:
    text = lead + doctype + GOOD.replace("北京", "&h;")

    assert "DOCTYPE at line" in malformed(text)
    assert "DOCTYPE at line" in refused_body(text)
    assert "DOCTYPE at line" in refused_body(text.encode())


@pytest.mark.covers("B76")
def test_a_file_that_an_entity_names_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("swordfish")
    doctype = f"<!DOCTYPE MSG [<!ENTITY h SYSTEM '{secret.as_uri()}'>]>"

    text = malformed(doctype + GOOD.replace("北京", "&h;"))

    assert "swordfish" not in text


@pytest.mark.covers("B77")
@pytest.mark.parametrize(
    "bomb",
    [
        f"{LAUGHS}]><MSG>&a11;</MSG>",
        f"{LAUGHS}]><MSG a='&a11;'/>",
        f"{BLOWUP}<MSG>{'&a;' * 20_000}</MSG>",
    ],
)
def test_a_bomb_of_entities_is_refused_before_it_can_grow(bomb: str) -> None:
    for attempt in (malformed, refused_body):
        assert "DOCTYPE" in attempt(bomb)


@pytest.mark.covers("B77")
def test_memory_stays_flat_over_a_hundred_bombs() -> None:
    program = f"""
import resource
from msgx.codec.wellformed import check_wellformed
from msgx.domain.failure import Fault
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
check_wellformed("<MSG/>")
before, refused = peak(), 0
for _ in range(100):
    try:
        check_wellformed({LAUGHS!r} + "]><MSG>&a11;</MSG>")
    except Fault:
        refused += 1
print(refused, peak() - before)
"""

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )

    refused, grown = map(int, done.stdout.split())
    assert refused == 100
    assert grown < 8 * 1024  # KiB


def test_an_entity_that_nobody_declared_is_refused() -> None:
    assert "entity" in malformed(GOOD.replace("北京", "&nbsp;"))
    assert record(flop("REMC", "<REMC>&lt;&amp;&gt;&quot;&apos;</REMC>")).told == {
        "REMC": "<&>\"'"
    }


def test_the_word_doctype_inside_a_value_is_no_doctype() -> None:
    told = record(
        flop("REMC", "<REMC><![CDATA[<!DOCTYPE x>]]><!-- <!DOCTYPE y> --></REMC>")
    ).told

    assert told == {"REMC": "<!DOCTYPE x>"}


@pytest.mark.parametrize("depth", [300, 100_000])
def test_deep_nesting_is_refused(depth: int) -> None:
    deep = "<A>" * depth + "</A>" * depth

    assert "nested too deep at line 1" in malformed(message("FLOP", "REMC", deep))
    assert refused_body(deep)


def test_nesting_that_the_parser_takes_is_only_counted() -> None:
    deep = "<A>" * 200 + "</A>" * 200

    said = decode(flop("REMC", f"<REMC>x</REMC>{deep}"))

    assert isinstance(said.payload, Flop)
    assert [(u.tag, u.occurrences) for u in said.unmapped] == [("A", 1)]


def test_a_text_over_the_limit_is_refused_by_characters_and_by_bytes() -> None:
    small = Decoder(zone=SHANGHAI, groups=DECODER.groups, max_bytes=1000)

    assert "longer than 1000 bytes" in malformed(GOOD.replace("北", "x" * 1000), small)
    assert "longer than 1000 bytes" in malformed(GOOD.replace("北", "北" * 300), small)
    assert small.decode(GOOD, year=2026).payload == decode(GOOD).payload
    with pytest.raises(Fault, match="longer than 10 bytes"):
        check_wellformed(GOOD.encode(), max_bytes=10)


@pytest.mark.parametrize("many", ["<A/>" * 1_000_000, "<A b='' c='' d=''/>" * 250_000])
def test_a_flood_of_tags_or_attributes_is_refused_before_the_tree_grows(many: str) -> None:
    assert "more tags and attributes" in malformed(message("SCHD", "DNLD", many))


def test_a_flop_of_two_megabytes_is_read() -> None:
    remark = "x" * 2_000_000

    assert record(flop("REMC", f"<REMC>{remark}</REMC>")).told == {"REMC": remark}


def test_a_package_of_five_thousand_flights_is_read() -> None:
    said = decode(package(*(fltr(f"<STND>{n}</STND>", n) for n in range(1, 5001))))

    assert said.flids == tuple(str(n) for n in range(1, 5001))


@pytest.mark.covers("B78", "R26")
@pytest.mark.parametrize(
    "name", ["GBK", "gb2312", "GB18030", "utf-8", "UTF-16", "ISO-8859-1", "no-such-encoding"]
)
def test_a_declaration_inside_decoded_text_is_ignored(name: str) -> None:
    told = record(f'<?xml version="1.0" encoding="{name}"?>\n{GOOD}').told

    assert told == {"REMC": "北京"}


@pytest.mark.covers("B81", "R26")
@pytest.mark.parametrize("lead", ["\ufeff", "\n", " \r\n\t", "\ufeff \n", "\n\ufeff"])
@pytest.mark.parametrize("declaration", ["", "<?xml version='1.0' encoding='utf-8'?>"])
def test_a_bom_and_blanks_before_the_declaration_are_dropped(
    lead: str, declaration: str
) -> None:
    assert decode(lead + declaration + GOOD + "\n \t") == decode(GOOD)
    check_wellformed(lead + declaration + GOOD)
    check_wellformed((lead + declaration + GOOD).encode())


def test_what_was_dropped_still_counts_in_the_position() -> None:
    assert "line 3, column 8, in MSG" in malformed("\n\n  <MSG>\x01")


@pytest.mark.covers("B78", "R26", "R27")
@pytest.mark.parametrize("name", ["GBK", "gb2312", "GB18030", "UTF-16", "iso-8859-1", "ascii"])
def test_a_body_of_another_declared_encoding_has_its_own_exception(name: str) -> None:
    body = f'<?xml version="1.0"\n encoding = "{name}" ?>{GOOD}'

    for sent in (body, body.encode(), body.encode("gb18030"), b"\xef\xbb\xbf" + body.encode()):
        with pytest.raises(WrongEncoding, match="not UTF-8"):
            check_wellformed(sent)


@pytest.mark.covers("R26", "R27")
@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-32"])
def test_a_body_in_another_unicode_form_is_refused(codec: str) -> None:
    with pytest.raises(Fault):
        check_wellformed(GOOD.encode(codec))


@pytest.mark.parametrize("name", ["UTF-8", "utf-8", "Utf8"])
def test_a_body_that_declares_utf_8_is_accepted_in_any_case(name: str) -> None:
    check_wellformed(f"<?xml version='1.0' encoding='{name}'?>{GOOD}".encode())


def test_a_body_that_is_no_utf_8_is_refused() -> None:
    assert "no UTF-8 at byte" in refused_body(GOOD.encode("gb18030"))
    assert "no UTF-8 at byte 1" in refused_body(b"\xff<MSG/>")


def test_a_reason_is_always_fit_to_be_stored() -> None:
    text = fault("<MSG>\x00\ud800</MSG>").text

    assert text.isprintable()
    text.encode()
