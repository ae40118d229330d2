"""The trace of a day plan's treatment: one row of SCHD_SNAP_LOG, which decides nothing."""

from collections.abc import Mapping, Sequence
from datetime import date

from msgx.domain.flight import EntryKind
from msgx.domain.message import Schedule
from msgx.store import schd_snap_log
from msgx.store.connect import Connection
from msgx.store.proc_state import Head
from msgx.store.schd_snap_log import SnapLog


def trace(
    conn: Connection,
    head: Head,
    schedule: Schedule,
    *,
    days: Sequence[date],
    entries: Mapping[str, EntryKind],
    seconds: float,
) -> None:
    """Append the row of one treatment; `entries` is the journal of the message, none for a
    repeat."""
    named = {record.flid for record in schedule.records}
    kinds = [kind for flid, kind in entries.items() if flid in named]
    schd_snap_log.add(
        conn,
        SnapLog(
            msg_id=head.msg_id,
            kind=schedule.kind.value,
            recv_at=head.received_at,
            scope_begin=days[0] if days else None,
            scope_end=days[-1] if days else None,
            declared=schedule.declared,
            parsed=len(named),
            created=kinds.count(EntryKind.CREATED),
            restored=kinds.count(EntryKind.RESTORED),
            changed=kinds.count(EntryKind.CHANGED) + kinds.count(EntryKind.SHARED),
            unchanged=len(named) - len(kinds),
            deleted=list(entries.values()).count(EntryKind.DELETED),
            duration_seconds=seconds,
        ),
    )
