"""Start the servers together, wait until each is ready, and stop them together."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from deploy.local import folder as folders
from deploy.local import ports as numbers
from deploy.local.children import Child, Family, failed
from deploy.local.faults import CannotStart, Interrupted
from deploy.local.servers import SERVERS
from deploy.local.servers.server import Place, Server
from msgx import clock

ALL: Final = tuple(SERVERS)
READY_TIMEOUT: Final = 120.0
POLL: Final = 0.1
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where the started servers are reached, by name."""

    urls: Mapping[str, str]

    @property
    def postgres(self) -> str:
        """The superuser's URL."""
        return self.urls["postgres"]

    @property
    def mysql(self) -> str:
        """The administrator's URL, with a schema."""
        return self.urls["mysql"]

    @property
    def redis(self) -> str:
        """The URL of database 0."""
        return self.urls["redis"]

    @property
    def kafka(self) -> str:
        """The bootstrap address."""
        return self.urls["kafka"]

    def exports(self) -> str:
        """Return the URLs as shell exports, as the tests read them."""
        return "\n".join(
            f"export MSGX_TEST_{n.upper()}_URL='{u}'" for n, u in self.urls.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A running stack: what the demo and the command line need beside the URLs."""

    folder: Path
    endpoints: Endpoints
    family: Family


@contextlib.contextmanager
def running(
    folder: Path | None = None,
    *,
    servers: Sequence[str] = ALL,
    ports: Mapping[str, int] | None = None,
    keep: bool = False,
) -> Iterator[Endpoints]:
    """Run `servers` for the length of the block, in `folder` or a scratch one.

    Raises:
        CannotStart: the message says in one sentence why, and what to do.
    """
    with opened(folder, servers=servers, ports=ports, keep=keep) as stack:
        yield stack.endpoints


@contextlib.contextmanager
def opened(
    folder: Path | None = None,
    *,
    servers: Sequence[str] = ALL,
    ports: Mapping[str, int] | None = None,
    keep: bool = False,
    say: Say | None = None,
) -> Iterator[Stack]:
    """Like `running`, but yields the stack and says one line for each step."""
    where = (folder or folders.scratch()).resolve()
    with folders.held(where, keep=keep) as lock, Family(lock) as family:
        remembered = folders.read(where)
        places = _places(where, servers, ports or {}, remembered.get("ports", {}))
        endpoints = Endpoints({n: SERVERS[n].url(places[n]) for n in servers})
        state: dict[str, Any] = {
            "launcher": {"pid": os.getpid(), "started": folders.started_ticks(os.getpid())},
            "ports": remembered.get("ports", {})
            | {name: place.ports for name, place in places.items()},
            "urls": dict(endpoints.urls),
            "ready": False,
        }
        folders.write(where, state, endpoints.exports())
        _start_all(places, family, say or (lambda _: None))
        folders.write(where, state | {"ready": True}, endpoints.exports())
        yield Stack(folder=where, endpoints=endpoints, family=family)


def _places(
    where: Path,
    servers: Sequence[str],
    given: Mapping[str, int],
    last: Mapping[str, Sequence[int]],
) -> dict[str, Place]:
    unknown = set(servers) - set(SERVERS)
    if unknown:
        raise CannotStart(
            f"There is no server {', '.join(sorted(unknown))}; there are {', '.join(ALL)}."
        )
    (where / "logs").mkdir(exist_ok=True)
    taken: set[int] = set()
    places: dict[str, Place] = {}
    for name in servers:
        server = SERVERS[name]
        chosen: list[int] = []
        for index in range(server.port_count):
            before = last.get(name, ())[index : index + 1]
            configured = name if index == 0 else f"{name}_{index + 1}"
            port = numbers.choose(
                configured,
                server.title,
                given=given,
                last=next(iter(before), None),
                taken=taken,
            )
            taken.add(port)
            chosen.append(port)
        home = where / name
        home.mkdir(exist_ok=True, mode=0o711)
        places[name] = Place(
            folder=home, log=where / "logs" / f"{name}.log", ports=tuple(chosen)
        )
    return places


def _start_all(places: Mapping[str, Place], family: Family, say: Say) -> None:
    """Start all servers at once; the first that fails stops the others."""
    with ThreadPoolExecutor(max_workers=len(places) or 1, thread_name_prefix="start") as pool:
        started: list[Future[None]] = [
            pool.submit(_start, SERVERS[name], place, family, say)
            for name, place in places.items()
        ]
        try:
            wait(started, return_when=FIRST_EXCEPTION)
        finally:  # an interrupt must not wait for a server's time-out
            if not all(future.done() and not future.exception() for future in started):
                family.stop()
    faults = [fault for future in started if (fault := future.exception())]
    for fault in sorted(faults, key=lambda fault: isinstance(fault, Interrupted)):
        raise fault


def _start(server: Server, place: Place, family: Family, say: Say) -> None:
    begun = clock.ticks()
    version = server.version()
    _check_version(server, place, version)
    if not place.data.exists():
        say(f"{server.title} {version}: preparing {place.data}")
        server.initialise(place, family)
        (place.folder / "version").write_text(f"{version}\n")
        place.unfinished.rename(place.data)
    child = family.spawn(server.title, server.command(place), place.log)
    _await(server, place, child, family)
    elapsed = clock.ticks() - begun
    say(f"{server.title} {version}: ready after {elapsed:.1f} s at {server.url(place)}")


def _check_version(server: Server, place: Place, version: str) -> None:
    if not place.data.exists():
        if place.unfinished.exists():  # a start that was killed
            folders.remove(place.unfinished)
        return
    stored = place.folder / "version"
    made_by = stored.read_text().strip() if stored.exists() else "an unknown version"
    if made_by != version:
        raise CannotStart(
            f"{place.data} was made by {server.title} {made_by}, but {version} is installed: "
            f"install {made_by}, or remove {place.folder} and lose its data."
        )


def _await(server: Server, place: Place, child: Child, family: Family) -> None:
    deadline = clock.ticks() + READY_TIMEOUT
    while not server.ready(place):
        if family.stopping.is_set():
            raise Interrupted(server.title)
        if child.ended():
            raise CannotStart(failed(server.title, "ended while starting", place.log))
        if clock.ticks() > deadline:
            late = f"was not ready after {READY_TIMEOUT:g} s"
            raise CannotStart(failed(server.title, late, place.log))
        family.stopping.wait(POLL)
