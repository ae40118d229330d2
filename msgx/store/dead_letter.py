"""DEAD_LETTER: the raw text of DEAD messages, which must stay repairable (R38). Owners:
processor, refdata."""

from typing import Final

from msgx.store.connect import Connection

_KEEP: Final = """
    INSERT INTO dead_letter (msg_id, raw, raw_altered, dead_at)
    VALUES (%s, %s, %s, msgx_now())
        ON CONFLICT (msg_id) DO UPDATE
       SET raw = EXCLUDED.raw, raw_altered = EXCLUDED.raw_altered, dead_at = EXCLUDED.dead_at
"""


def keep(conn: Connection, msg_id: int, raw: str | None) -> None:
    """Keep the text of a message that died; NUL and lone surrogates, which no column takes, are
    marked."""
    storable = None
    if raw is not None:
        storable = raw.replace("\0", "\N{SYMBOL FOR NULL}").encode("utf-8", "replace").decode()
    conn.execute(_KEEP, (msg_id, storable, storable != raw))
