"""TLS of the control address: a certificate of ours, and the authority whose clients are
admitted."""

import ssl
from pathlib import Path

import grpc

from msgx.settings import Control


def credentials(control: Control) -> grpc.ServerCredentials | None:
    """Return what the server shows and demands; None: the address speaks plainly.

    Raises:
        ValueError: a file is missing or does not fit, in one sentence.
    """
    if (given := _files(control)) is None:
        return None
    cert, key = given
    chain, secret = _read(cert, "TLS_CERT"), _read(key, "TLS_KEY")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(cert, key, password=_no_password)
    except (ssl.SSLError, ValueError):
        raise ValueError(
            f"{_name('TLS_CERT')} and {_name('TLS_KEY')} must be a PEM certificate and its key"
            ", without a password"
        ) from None
    if control.tls_client_ca is None:
        return grpc.ssl_server_credentials([(secret, chain)])
    authority = _read(control.tls_client_ca, "TLS_CLIENT_CA")
    try:
        context.load_verify_locations(control.tls_client_ca)
    except ssl.SSLError:
        raise ValueError(
            f"{_name('TLS_CLIENT_CA')} must be the PEM certificate of an authority"
        ) from None
    return grpc.ssl_server_credentials(
        [(secret, chain)], root_certificates=authority, require_client_auth=True
    )


def _files(control: Control) -> tuple[Path, Path] | None:
    """Return certificate and key; None: neither is named."""
    cert, key = control.tls_cert, control.tls_key
    if cert is not None and key is not None:
        return cert, key
    if cert is not None or key is not None:
        raise ValueError(f"{_name('TLS_CERT')} and {_name('TLS_KEY')} are set together")
    if control.tls_client_ca is not None:
        raise ValueError(f"{_name('TLS_CLIENT_CA')} needs {_name('TLS_CERT')}")
    return None


def _read(path: Path, field: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{_name(field)} cannot be read: {error.strerror}") from None


def _no_password() -> str:
    """Give the wrong password, where OpenSSL would ask the terminal."""
    return ""


def _name(field: str) -> str:
    return f"MSGX_CONTROL__{field}"
