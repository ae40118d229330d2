"""Java servers: the JDK, and libraries fetched once by Maven and verified by their sums."""

import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.local.children import Command, Family
from deploy.local.faults import CannotStart

HERE: Final = Path(__file__).parent
OLDEST, NEWEST = 17, 22
COPY: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
FETCH_TIMEOUT: Final = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Libraries:
    """The jars of one server: what to fetch, and the file with their sums."""

    server: str
    version: str
    pom: Path
    sums: Path
    instead: str

    @property
    def folder(self) -> Path:
        """Where they are kept: outside the checkout, shared by all checkouts."""
        cache = os.environ.get("XDG_CACHE_HOME", "").strip() or "~/.cache"
        return Path(cache).expanduser() / "msgx" / f"{self.server}-{self.version}"


def _version_in(pom: Path, artifact: str) -> str:
    found = re.search(rf"<artifactId>{artifact}.*?<version>(.*?)<", pom.read_text(), re.DOTALL)
    return found[1] if found else "unknown"


KAFKA: Final = Libraries(
    server="kafka",
    version=_version_in(HERE / "pom-kafka.xml", "kafka_"),
    pom=HERE / "pom-kafka.xml",
    sums=HERE / "kafka.sha256",
    instead="MSGX_TEST_KAFKA_URL",
)


@functools.cache
def find() -> str:
    """Return a `java` of a supported version.

    Raises:
        CannotStart: there is none.
    """
    for candidate in _candidates():
        if candidate and OLDEST <= _version(candidate) <= NEWEST:
            return candidate
    raise CannotStart(
        f"Java {OLDEST} to {NEWEST} is not installed: `make setup` installs it; "
        f"or name a running broker by {KAFKA.instead}."
    )


def ensure(libraries: Libraries) -> None:
    """Have the jars, fetched if need be and verified, without any stack; one caller at a time.

    Raises:
        CannotStart: no Java, no Maven, no network, or a jar is not what was expected.
    """
    find()
    kept = libraries.folder.parent
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with Family(lock.fileno()) as family:
            fetch(libraries, family, kept / f"{libraries.server}-fetch.log")
    verified(libraries)


def verified(libraries: Libraries) -> Path:
    """Return the folder of the jars after comparing every one with its sum.

    Raises:
        CannotStart: a jar is missing, changed, or not listed.
    """
    fault = _fault(libraries, libraries.folder)
    if fault:
        raise CannotStart(
            f"{libraries.folder}: {fault}; remove that folder and run `make setup` again."
        )
    return libraries.folder


def fetch(libraries: Libraries, family: Family, log: Path) -> None:
    """Fetch the jars if they are not there: complete and verified, or not at all.

    Raises:
        CannotStart: Maven is missing or fails, or a jar is not what was expected.
    """
    if libraries.folder.exists():
        return
    maven = shutil.which("mvn")
    if maven is None:
        raise CannotStart(
            "Maven is not installed: `make setup` installs it; "
            f"or name a running broker by {libraries.instead}."
        )
    libraries.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=libraries.folder.parent, prefix="fetch-") as beside:
        jars = Path(beside) / "jars"
        arguments = [
            maven,
            "-B",
            "-q",
            "-f",
            str(libraries.pom),
            COPY,
            f"-DoutputDirectory={jars}",
        ]
        environment = dict(os.environ, JAVA_HOME=str(Path(find()).resolve().parents[1]))
        command = Command(arguments, Path(beside), environment=environment)
        try:
            family.run("mvn", command, log, timeout=FETCH_TIMEOUT)
        except CannotStart as error:
            raise CannotStart(
                f"The libraries of {libraries.server} could not be fetched (no network?); "
                f"name a running broker by {libraries.instead} instead, or try again. {error}"
            ) from None
        fault = _fault(libraries, jars)
        if fault:
            raise CannotStart(
                f"The libraries of {libraries.server} are not as expected: {fault}."
            )
        if not libraries.folder.exists():
            jars.rename(libraries.folder)


def _fault(libraries: Libraries, folder: Path) -> str | None:
    lines = (line.split() for line in libraries.sums.read_text().splitlines())
    expected = {name: digest for digest, name in lines}
    found = {path.name for path in folder.glob("*")}
    if found != set(expected):
        return f"missing or unexpected: {', '.join(sorted(found ^ set(expected))[:3])}"
    for name, digest in expected.items():
        with (folder / name).open("rb") as jar:
            if hashlib.file_digest(jar, "sha256").hexdigest() != digest:
                return f"{name} was changed"
    return None


def _candidates() -> Iterator[str | None]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield shutil.which("java", path=f"{home}/bin")
    yield shutil.which("java")
    for folder in sorted(Path("/usr/lib/jvm").glob("*/bin")):
        yield shutil.which("java", path=str(folder))


def _version(java: str) -> int:
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(\d+)', said.stderr)
    return int(found[1]) if found else 0
