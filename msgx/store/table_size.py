"""How much room the tables take, of all services: whoever asks needs no right on them (B62)."""

from typing import Final

from msgx.store.connect import Connection

_SIZES: Final = """
    SELECT relname, pg_total_relation_size(oid) FROM pg_class
     WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
"""


def sizes(conn: Connection) -> dict[str, int]:
    """Return the bytes of each table with its indexes."""
    return {str(name): int(str(size)) for name, size in conn.execute(_SIZES).fetchall()}
