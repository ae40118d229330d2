"""`msgxctl status`, `pause`, `resume`, `wake`: what services say of themselves."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Annotated, Any, Final

import typer

from msgx import clock
from msgx.rpc.v1 import control_pb2 as pb
from msgxctl import options, show
from msgxctl.connect import Remote
from msgxctl.failure import Failure, Status, misused
from msgxctl.place import PREFIX, Peer
from msgxctl.plain import plain
from msgxctl.show import Column, Row

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["ControlService"]
_PEERS: Final = {peer.service: peer for peer in Peer}
_MINUTE, _HOUR, _DAY = 60, 3600, 86400

_Service = Annotated[
    str,
    typer.Argument(help=f"One of {', '.join(_PEERS)}.", autocompletion=lambda: list(_PEERS)),
]
_Part = Annotated[str, typer.Argument(help="A loop of it, as status names them.")]


def age(told: str | None) -> str | None:
    """Return how long ago an instant is, as people say it."""
    if not told:
        return None
    seconds = (clock.now() - datetime.fromisoformat(told)).total_seconds()
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{max(seconds, 0):.0f} s ago"


def _backlog(row: Row) -> object:
    items = (one for one in row.get("backlog") or () if one["count"])
    return "; ".join(
        f"{one['count']} {one['name'].replace('_', ' ')}"
        + (f", oldest {age(one['oldest'])}" if one["oldest"] else "")
        for one in items
    )


def _term(row: Row) -> object:
    return (row.get("leader") or {}).get("term")


def _schema(row: Row) -> object:
    schema = row.get("schema") or {}
    if not schema:
        return None
    needed = "" if schema["current"] >= schema["needed"] else f", needs {schema['needed']}"
    return f"{schema['current']}{needed}"


def _paused(row: Row) -> object:
    pause = row.get("pause")
    return pause and f"{age(pause['since'])} by {pause['operator']}: {pause['reason']}"


_INSTANCES: Final[tuple[Column, ...]] = (
    ("service", "service"),
    ("at", "address"),
    ("serves", "serving"),
    ("leads", "leads"),
    ("term", _term),
    ("version", "version"),
    ("schema", _schema),
    ("waiting", _backlog),
    ("fault", lambda row: row.get("error") or row.get("store_fault")),
)
_LOOPS: Final[tuple[Column, ...]] = (
    ("service", "service"),
    ("loop", "name"),
    ("state", "state"),
    ("last clean step", lambda row: age(row.get("last_clean"))),
    ("faults", "faults"),
    ("reason", "reason"),
    ("paused", _paused),
)


def status(
    context: typer.Context,
    services: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Of {', '.join(_PEERS)}; none: all whose addresses are known.",
            show_default=False,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show all services side by side: who leads, what waits, what each loop does.

    Every address is asked. The status is 3 if one did not answer, 4 if one
    denied, 1 if all answered and a service has no instance that serves.
    """
    remote = options.remote(context)
    peers = [_peer(one) for one in services] if services else list(Peer)
    asked = [(peer, one) for peer in peers for one in remote.place.addresses(peer)]
    if not asked:
        misused(f"where do they answer? --intake HOST:PORT and so on, or {PREFIX}INTAKE …")
    with ThreadPoolExecutor(max_workers=len(asked)) as pool:
        rows = list(pool.map(lambda one: _status(remote, *one), asked))
    if as_json:
        show.as_json([{name: row[name] for name in row if name != "status"} for row in rows])
    else:
        show.table(rows, _INSTANCES)
        show.say("")
        loops = [loop | {"service": row["service"]} for row in rows for loop in row["loops"]]
        show.table(loops, _LOOPS)
    _judge(rows)


def pause(
    context: typer.Context,
    service: _Service,
    part: _Part,
    reason: options.Reason,
    as_json: options.AsJson = False,
) -> None:
    """Let a loop rest after what it has in work, also over restarts, until it is resumed."""
    request = pb.PauseRequest(admin=options.act(context, reason), part=part)
    answer = options.remote(context).ask(_peer(service), _SERVICE, "Pause", request)
    _tell(answer.changed, f"{part} of {service} rests", "already", as_json)


def resume(
    context: typer.Context,
    service: _Service,
    part: _Part,
    reason: options.Reason,
    as_json: options.AsJson = False,
) -> None:
    """End a pause."""
    request = pb.ResumeRequest(admin=options.act(context, reason), part=part)
    answer = options.remote(context).ask(_peer(service), _SERVICE, "Resume", request)
    _tell(answer.changed, f"{part} of {service} works", "already", as_json)


def wake(
    context: typer.Context,
    service: _Service,
    part: Annotated[
        str, typer.Argument(help="A loop of it; none: all.", show_default=False)
    ] = "",
    as_json: options.AsJson = False,
) -> None:
    """End the rest that a loop takes now; it looks for work at once."""
    peer = _peer(service)
    options.remote(context).ask(peer, _SERVICE, "Wake", pb.WakeRequest(part=part))
    if as_json:
        show.as_json({"service": service, "part": part or None})
    else:
        show.say(f"{part or 'every loop'} of {service} is woken")


def _status(remote: Remote, peer: Peer, address: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "service": peer.service,
        "address": address,
        "error": None,
        "status": Status.DONE,
        "serving": None,
        "loops": [],
    }
    try:
        answer = remote.ask(peer, _SERVICE, "Status", pb.StatusRequest(), address=address)
    except Failure as failure:
        return row | {"error": failure.text, "status": failure.status}
    return row | plain(answer)


def _judge(rows: list[dict[str, Any]]) -> None:
    """End as the worst of them: misused, no answer, denied, nobody serves."""
    for ended in (Status.USAGE, Status.AWAY, Status.DENIED, Status.FAILED):
        for row in rows:
            if row["status"] is ended:
                raise Failure(ended, row["error"])
    serving = {row["service"] for row in rows if row["serving"]}
    if idle := sorted({row["service"] for row in rows} - serving):
        raise Failure(Status.FAILED, f"nobody serves as {', '.join(idle)}")


def _peer(service: str) -> Peer:
    if service not in _PEERS:
        misused(f"a service is one of {', '.join(_PEERS)}")
    return _PEERS[service]


def _tell(changed: bool, now: str, before: str, as_json: bool) -> None:
    if as_json:
        show.as_json({"changed": changed})
    else:
        show.say(now if changed else f"{now} {before}")
