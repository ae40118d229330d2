"""UNMAPPED_FIELD: tags that the registry does not know; kept beyond their messages (INV-25,
R51). Owners: processor, refdata."""

from collections.abc import Sequence
from typing import Final

from msgx.domain.failure import clean
from msgx.domain.message import Meta, Unmapped
from msgx.store.connect import Connection

_COUNT: Final = """
    INSERT INTO unmapped_field AS f (type, styp, tag, first_msg_id, last_msg_id, occurrences,
                                     sample)
    VALUES (%(type)s, %(styp)s, %(tag)s, %(msg_id)s, %(msg_id)s, %(occurrences)s, %(sample)s)
        ON CONFLICT (type, styp, tag) DO UPDATE
       SET last_msg_id = GREATEST(f.last_msg_id, EXCLUDED.last_msg_id),
           first_msg_id = LEAST(f.first_msg_id, EXCLUDED.first_msg_id),
           occurrences = f.occurrences + EXCLUDED.occurrences,
           sample = EXCLUDED.sample
"""


def count(conn: Connection, msg_id: int, meta: Meta, fields: Sequence[Unmapped]) -> None:
    """Count the fields with the outcome of their message."""
    for field in fields:
        conn.execute(
            _COUNT,
            {
                "type": clean(meta.type),
                "styp": clean(meta.styp),
                "tag": clean(field.tag),
                "msg_id": msg_id,
                "occurrences": field.occurrences,
                "sample": clean(field.sample),
            },
        )
