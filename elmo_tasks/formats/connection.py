"""
The connection to a web server, by http or https only. A connection that is too slow is
closed.
"""

import base64
import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from elmo_tasks.errors import InputError, without_secrets

_SCHEMES = ("http", "https")
_LEAST = 1000  # bytes a second
_MOST_REDIRECTS = 10
_REDIRECTS = (301, 302, 303, 307, 308)
_TEMPORARY = (408, 425, 429)  # and 500 or more


class Cut(Exception):
    """The connection ended before the file did; another attempt may bring the rest."""


def require_web(url: str) -> SplitResult:
    """
    The parts of a URL. Raises `InputError` if its scheme is neither http nor https.
    """
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in _SCHEMES and bool(parts.hostname)
        is_valid = is_valid and (parts.port is None or parts.port > 0)
    except ValueError:
        is_valid = False
    if not is_valid:
        problem = (
            "expected a path, or an address that begins with https://, http:// or hf://"
        )
        shown = url.partition("?")[0]
        if "://" in url:
            shown = without_secrets(url)
        raise InputError(f"{problem}, got {shown}")
    return parts


class Watch:
    """The connection of an attempt, and how much of the file it has brought."""

    def __init__(self) -> None:
        self.received = 0
        self.is_stalled = False
        self._socket: socket.socket | None = None

    def opened(self, connection: socket.socket) -> None:
        """Called when the attempt has a connection."""
        self._socket = connection
        if self.is_stalled:
            self.stop()

    def stop(self) -> None:
        """Ends the connection, so that what reads from it returns."""
        self.is_stalled = True
        if self._socket is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


@contextmanager
def watched(seconds: float) -> Iterator[Watch]:
    """
    Stops a connection over which too little comes. The timeout of a socket bounds a
    single read, so that a server which sends a byte a minute, or headers for ever,
    would not end.
    """
    watch = Watch()
    ended = threading.Event()

    def look() -> None:
        before = 0
        while not ended.wait(seconds):
            if watch.received - before < _LEAST * seconds:
                watch.stop()
                return
            before = watch.received

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        ended.set()
        thread.join()


@contextmanager
def network(name: str, watch: Watch) -> Iterator[None]:
    """
    Raises `Cut` for errors that may pass, `InputError` for others of the connection.
    """
    try:
        yield
    except InputError:
        raise
    except HTTPError as error:
        error.close()
        problem = f"HTTP Error {error.code}: {error.reason}"
        if error.code in _TEMPORARY or error.code >= 500:
            raise Cut(problem) from None
        raise InputError(f"cannot fetch {name}: {problem}") from None
    except URLError as error:
        reason = error.reason
        if isinstance(reason, socket.gaierror | ssl.SSLCertVerificationError):
            raise InputError(f"cannot fetch {name}: {reason}") from None
        raise Cut(str(reason)) from None
    except http.client.InvalidURL as error:
        raise InputError(f"cannot fetch {name}: {error}") from None
    except (
        http.client.HTTPException,
        ConnectionError,
        TimeoutError,
        ssl.SSLError,
    ) as error:
        if watch.is_stalled:
            raise Cut("the connection stalled") from None
        raise Cut(str(error) or type(error).__name__) from None
    except ValueError as error:  # of an address that is none
        raise InputError(f"cannot fetch {name}: {error}") from None


def open_url(url: str, headers: dict[str, str], watch: Watch, seconds: float) -> Any:
    """
    The answer of a server. Redirections may lead to http and https only, and never from
    https to http. The login in a URL is sent only to the server that the URL names.
    Raises `HTTPError` for statuses of 400 and more.
    """
    opener = _opener(watch)
    parts = require_web(url)
    login = _login(parts)
    origin = (parts.scheme, parts.netloc)
    for _ in range(_MOST_REDIRECTS):
        request = Request(_without_login(parts), headers=headers)
        if login and (parts.scheme, parts.netloc) == origin:
            request.add_header("Authorization", login)
        try:
            return opener.open(request, timeout=seconds)
        except HTTPError as error:
            place = None
            if error.headers:
                place = error.headers.get("Location")
            if error.code not in _REDIRECTS or place is None:
                raise
            error.close()
        secure = parts.scheme == "https"
        parts = require_web(urljoin(_without_login(parts), place))
        if secure and parts.scheme != "https":
            raise InputError(
                f"cannot fetch {without_secrets(url)}: it is redirected from https to http"
            )
    raise InputError(f"cannot fetch {without_secrets(url)}: too many redirections")


def _opener(watch: Watch) -> OpenerDirector:
    """
    Speaks http and https, by a proxy if the environment names one, and nothing else.
    """

    class Connection(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            watch.opened(self.sock)

    class SecureConnection(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            watch.opened(self.sock)

    class Http(HTTPHandler):
        def http_open(self, request: Request) -> http.client.HTTPResponse:
            return self.do_open(Connection, request)

    class Https(HTTPSHandler):
        def https_open(self, request: Request) -> http.client.HTTPResponse:
            context = ssl.create_default_context()
            return self.do_open(SecureConnection, request, context=context)

    opener = OpenerDirector()
    for kind in (
        ProxyHandler,
        Http,
        Https,
        HTTPDefaultErrorHandler,
        HTTPErrorProcessor,
    ):
        opener.add_handler(kind())
    return opener


def _login(parts: SplitResult) -> str | None:
    """The header for the name and the password of a URL."""
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _without_login(parts: SplitResult) -> str:
    return urlunsplit(
        parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="")
    )
