"""Certificates that a test makes for itself, with the openssl of the machine."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_KEY: Final = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, as files."""

    cert: Path
    key: Path


def authority(folder: Path, name: str) -> Pair:
    """Make an authority that signs itself."""
    made = Pair(folder / f"{name}.crt", folder / f"{name}.key")
    _openssl("req", "-x509", *_KEY, "-subj", f"/CN={name}", "-days", "2", *_out(made))
    return made


def signed(folder: Path, name: str, by: Pair) -> Pair:
    """Make a certificate for 127.0.0.1, signed by an authority."""
    made = Pair(folder / f"{name}.crt", folder / f"{name}.key")
    _openssl(
        *("req", "-x509", *_KEY, "-subj", f"/CN={name}", "-days", "2"),
        *("-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"),
        *("-addext", "basicConstraints=critical,CA:FALSE"),
        *("-CA", str(by.cert), "-CAkey", str(by.key), *_out(made)),
    )
    return made


def locked(pair: Pair, folder: Path) -> Path:
    """Return the key again, behind a password."""
    path = folder / "locked.key"
    _openssl("ec", "-in", str(pair.key), "-aes256", "-passout", "pass:x", "-out", str(path))
    return path


def _out(pair: Pair) -> tuple[str, ...]:
    return ("-out", str(pair.cert), "-keyout", str(pair.key))


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=30)
