"""XML text to a tree that is safe to walk: nothing is fetched or expanded (R26, B76, B77).

A DOCTYPE is found before the parser sees the text, so that no entity is ever declared.
"""

import re
from typing import Final, cast

from lxml import etree

from msgx.codec.position import BLANKS, Position
from msgx.domain.failure import ErrorClass, Fault, clean

MAX_BYTES: Final = 16 * 1024 * 1024
BOM: Final = "\ufeff"

_MAX_NODES: Final = 1_000_000
"""Tags and attributes cost memory in the tree; a package of 5,000 flights has half as many."""

_DECLARED: Final = re.compile(
    r"<\?xml[ \t\r\n][^>]{0,200}?encoding[ \t\r\n]*=[ \t\r\n]*['\"]([^'\"]{0,64})"
)
_UTF8: Final = frozenset({"utf-8", "utf8"})
_FOREIGN_MARKS: Final = (b"\xfe\xff", b"\xff\xfe", b"\x00\x00\xfe\xff")  # UTF-16, UTF-32

# The parser's own words may repeat the text, so its codes are put into ours.
_PHRASES: Final = {
    etree.ErrorTypes.ERR_DOCUMENT_EMPTY: "no element",
    etree.ErrorTypes.ERR_DOCUMENT_END: "something behind the root element",
    etree.ErrorTypes.ERR_INVALID_CHAR: "forbidden character",
    etree.ErrorTypes.ERR_UNDECLARED_ENTITY: "entity other than the five of XML",
    etree.ErrorTypes.ERR_TAG_NAME_MISMATCH: "end tag without its start tag",
    etree.ErrorTypes.ERR_TAG_NOT_FINISHED: "element without an end tag",
    etree.ErrorTypes.ERR_ATTRIBUTE_REDEFINED: "attribute stands twice",
    etree.ErrorTypes.ERR_ATTRIBUTE_WITHOUT_VALUE: "attribute without a value",
    etree.ErrorTypes.ERR_LT_IN_ATTRIBUTE: "'<' in an attribute",
    etree.ErrorTypes.ERR_NAME_REQUIRED: "name expected",
    etree.ErrorTypes.ERR_GT_REQUIRED: "'>' expected",
}
_PARSER: Final = etree.XMLParser(
    encoding="utf-8",  # the text is decoded already: what it declares is ignored (R26, B78)
    resolve_entities=False,
    no_network=True,
    load_dtd=False,
    dtd_validation=False,
    huge_tree=False,  # keeps the parser's own limits, depth among them
    remove_comments=True,
    remove_pis=True,
    strip_cdata=True,
)


class WrongEncoding(Fault):
    """The body declares another encoding than UTF-8 (415, R26)."""


def parse(text: str, max_bytes: int) -> etree._Element:
    """Return the root of `text`: elements, attributes and text only.

    Raises:
        Fault: MALFORMED: not well-formed, a forbidden construct, or over a limit.
    """
    stripped = text.lstrip(BLANKS + BOM)
    position = Position(text, len(text) - len(stripped))
    if len(stripped) > max_bytes:
        raise _malformed(f"longer than {max_bytes} bytes")
    try:
        encoded = stripped.encode()
    except UnicodeEncodeError as error:
        raise _malformed(f"lone surrogate at {position.of(error.start)}") from None
    if len(encoded) > max_bytes:
        raise _malformed(f"longer than {max_bytes} bytes")
    if encoded.count(b"<") + encoded.count(b"=") > _MAX_NODES:
        raise _malformed("more tags and attributes than any real message")
    if (doctype := _doctype(stripped)) is not None:
        raise _malformed(f"DOCTYPE at {position.of(doctype)}")
    try:
        root = etree.fromstring(encoded, _PARSER)
    except etree.XMLSyntaxError as error:
        raise _malformed(_explain(error, position)) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise _malformed("DOCTYPE")
    return root


def check_wellformed(body: bytes | str, max_bytes: int = MAX_BYTES) -> None:
    """Accept what the mailbox may get: UTF-8, well-formed, nothing forbidden (B76, B77).

    Raises:
        WrongEncoding: another encoding is declared or marked.
        Fault: MALFORMED.
    """
    if isinstance(body, bytes):
        if body.startswith(_FOREIGN_MARKS):
            raise WrongEncoding(ErrorClass.MALFORMED, "the body is not UTF-8")
        head = body[:512].decode("latin-1").removeprefix("\u00ef\u00bb\u00bf")
    else:
        head = body[:512].removeprefix(BOM)
    declared = _DECLARED.match(head.lstrip(BLANKS))
    if declared is not None and declared[1].lower() not in _UTF8:
        raise WrongEncoding(
            ErrorClass.MALFORMED, f"the body declares {clean(declared[1])}, not UTF-8"
        )
    if isinstance(body, bytes):
        if len(body) > max_bytes:
            raise _malformed(f"longer than {max_bytes} bytes")
        try:
            body = body.decode()
        except UnicodeDecodeError as error:
            raise _malformed(f"no UTF-8 at byte {error.start + 1}") from None
    parse(body, max_bytes)


def _malformed(text: str) -> Fault:
    return Fault(ErrorClass.MALFORMED, clean(text))


def _doctype(text: str) -> int | None:
    """Return where a DOCTYPE stands: only blanks, comments and PIs may precede it."""
    at = 0
    while True:
        while text[at : at + 1] in (" ", "\t", "\r", "\n"):
            at += 1
        if text.startswith("<!DOCTYPE", at):
            return at
        if text.startswith("<?", at):
            end = text.find("?>", at + 2) + 2
        elif text.startswith("<!--", at):
            end = text.find("-->", at + 4) + 3
        else:
            return None
        if end <= at:  # unfinished: the parser says so
            return None
        at = end


def _explain(error: etree.XMLSyntaxError, position: Position) -> str:
    line, column = error.position
    if (forbidden := position.forbidden_character()) is not None:
        at, character = forbidden
        return f"forbidden character 0x{character:02X} at {position.of(at)}"
    if "Excessive depth" in str(error):
        phrase = "elements nested too deep"
    else:
        code = cast(int, getattr(error, "code", 0))  # the stubs lack it
        phrase = _PHRASES.get(code, f"not well-formed (code {code})")
    return f"{phrase} at {position.of(position.offset(line, column))}"
