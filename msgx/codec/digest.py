"""The fingerprint of what a message says, whatever its layout (R01, R59)."""

import hashlib
import re
from typing import Final

from lxml import etree

from msgx.domain.failure import ErrorClass, Fault

# Canonical text has no bare '>', canonical attributes no bare '<': only blank texts match.
_BLANK_TEXT: Final = re.compile(rb">(?:[ \t\n]|&#xD;)+<")


def body_digest(root: etree._Element) -> bytes:
    """Return SHA-256 over the children of MSG other than META, in order, in exclusive C14N.

    Layout, quoting, CDATA, empty style, attribute order, comments and what MSG itself declares
    make no difference; blanks around a value that is not blank do.

    Raises:
        Fault: MALFORMED: a relative namespace name, for which no canonical form exists.
    """
    digest = hashlib.sha256()
    try:
        for child in root:
            if child.tag != "META":
                canonical = etree.tostring(
                    child, method="c14n", exclusive=True, with_comments=False
                )
                digest.update(_BLANK_TEXT.sub(b"><", canonical))
    except etree.C14NError:
        raise Fault(
            ErrorClass.MALFORMED, "a namespace name is relative: no canonical form"
        ) from None
    return digest.digest()
