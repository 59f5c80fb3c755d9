"""Downloads: whole or not at all, within bounds, each failure one error."""

import errno
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.download import download
from elmo_tasks.formats.fetching.fetch import NotAllowed, local_path, set_download_limit
from elmo_tasks.formats.fetching.published import MODELS, PublishedModel
from tests.disk import file_size_limit
from tests.memory import grown
from tests.web_server import CONTENT, HALF, Server, serving

SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield tmp_path / "cache/elmo_tasks"
    set_download_limit(None)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def kept(cache: Path) -> list[Path]:
    """All files of a cache but its locks."""
    files = cache.glob("downloads/*/*")
    return [path for path in files if path.suffix != ".lock"]


@pytest.mark.parametrize("name", ["sound", "unsized", "slow", "to/SERVER/sound"])
def test_a_file_is_downloaded_once(name: str, server: Server, cache: Path) -> None:
    url = f"{server.address}/{name}/x.bin"
    path = local_path(url)
    assert path.read_bytes() == CONTENT and path.name == "x.bin"
    count = len(server.requests)
    assert local_path(url) == local_path(url, offline=True) == path
    assert len(server.requests) == count and kept(cache) == [path]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gone", "HTTP error 404: Not Found"),
        ("shut", "HTTP error 503: Service Unavailable"),
        ("login", "HTTP error 401"),
        ("around", "TooManyRedirects: Exceeded 30 redirects"),
        ("longer", "no connection to the server|ChunkedEncodingError"),
        (
            "endless",
            "expected at most 1,000,000 bytes, got 1,.*--download-limit raises",
        ),
        ("endless_chunks", "expected at most 1,000,000 bytes, got 1,"),
        ("too_long", "expected at most 1,000,000 bytes, got 1,000,000,000,000,000"),
        ("page", "expected a file, got a web page .does the address require a login"),
        ("to/file:///etc/passwd", "No connection adapters were found for 'file:///etc"),
        ("to/ftp://127.0.0.1/x", "No connection adapters were found for 'ftp:"),
        ("to/http://[", "cannot fetch"),
        ("to/http://127.0.0.1:1", "no connection to the server"),
    ],
)
def test_what_is_no_file_is_one_error(
    name: str, problem: str, server: Server, cache: Path
) -> None:
    set_download_limit(0.001)
    with grown() as memory, pytest.raises(InputError, match=problem) as error:
        local_path(f"{server.address}/{name}/x.bin?v=1")
    message = str(error.value)
    assert "/x.bin?v=1" in message and server.address in message
    assert "\n" not in message
    assert memory[0] < 2**26 and kept(cache) == []


@pytest.mark.parametrize("name", ["stalls", "stalls_always"])
def test_a_server_that_stops_answering(name: str, server: Server, cache: Path) -> None:
    target = cache / "downloads/x/x.bin"
    problem = "no connection to the server|the server does not answer"
    with pytest.raises(InputError, match=f"cannot fetch .*/x.bin: ({problem})"):
        download(f"{server.address}/{name}/x.bin", target, most=10**6, seconds=0.5)
    assert kept(cache) == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
        "s3://bucket/x",
        "data://x",
        "http://",
        "http:///x",
        "http://127.0.0.1:x/",
        "https://[/x",
        "http://127.0.0.1:1/ x",
        "http://no.such.host.invalid/x",
    ],
)
def test_other_addresses_are_one_error(url: str) -> None:
    with pytest.raises(InputError) as error:
        local_path(url)
    assert "\n" not in str(error.value)


def calls_of(url: str, count: int) -> list[subprocess.Popen[bytes]]:
    """Processes that want the file of a URL."""
    code = f"from elmo_tasks.formats.fetching.fetch import local_path; print(local_path({url!r}))"
    command = [sys.executable, "-c", code]
    return [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(count)]


def test_processes_that_want_the_same_file(server: Server, cache: Path) -> None:
    calls = calls_of(f"{server.address}/slow/x.bin", 3)
    found = {call.communicate()[0].decode().strip() for call in calls}
    assert found == {str(kept(cache)[0])} and server.count["slow"] == 1
    assert kept(cache)[0].read_bytes() == CONTENT and len(kept(cache)) == 1


def test_a_killed_process_leaves_nothing_that_is_taken_for_the_file(
    server: Server, cache: Path
) -> None:
    url = f"{server.address}/halts/x.bin"
    (call,) = calls_of(url, 1)
    while sum([path.stat().st_size for path in kept(cache)]) == 0:
        time.sleep(0.02)
    call.send_signal(signal.SIGKILL)
    call.wait()
    with pytest.raises(NotAllowed):
        local_path(url, offline=True)
    path = local_path(url)
    assert path.read_bytes() == CONTENT and kept(cache) == [path]


def test_a_full_disk_is_one_error(server: Server, cache: Path) -> None:
    url = f"{server.address}/sound/x.bin"
    with file_size_limit(HALF), pytest.raises(InputError, match="File too large"):
        local_path(url)
    assert kept(cache) == []
    assert local_path(url).read_bytes() == CONTENT


def test_a_cache_that_cannot_be_written(server: Server, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "downloads").touch()
    with pytest.raises(InputError, match=f"cannot write: {os.strerror(errno.ENOTDIR)}"):
        local_path(f"{server.address}/sound/x.bin")


def test_a_digest_is_checked_before_a_file_is_kept(server: Server, cache: Path) -> None:
    url = f"{server.address}/sound/x.bin"
    for other in (f"{url}#sha256={'0' * 64}", url):
        with pytest.raises(InputError, match=f"expected sha256:0+ but got {SHA256}"):
            local_path(other, sha256="0" * 64)
    assert kept(cache) == []
    path = local_path(f"{url}#sha256={SHA256.upper()}")
    assert path == local_path(url, sha256=SHA256) and server.count["sound"] == 3
    path.write_bytes(b"damaged")
    with pytest.raises(NotAllowed):
        local_path(url, sha256=SHA256, offline=True)
    assert local_path(url, sha256=SHA256).read_bytes() == CONTENT


def test_a_published_md5_is_checked(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{server.address}/sound/x.bin"
    for md5 in ("0" * 32, MD5):
        model = PublishedModel("English", "news", (url,), md5=(md5,))
        monkeypatch.setitem(MODELS, "elmo-small", model)
        if md5 != MD5:
            with pytest.raises(InputError, match=f"expected md5:{md5} but got {MD5}"):
                local_path(url)
            assert kept(cache) == []
    assert local_path(url).read_bytes() == CONTENT


def test_the_digest_of_a_path(tmp_path: Path) -> None:
    file = tmp_path / "x.bin"
    file.write_bytes(CONTENT)
    assert local_path(file, sha256=SHA256) == file
    with pytest.raises(InputError, match=f"x.bin: expected sha256=0+, got {SHA256}"):
        local_path(file, sha256="0" * 64)


def test_nothing_is_fetched_offline(server: Server) -> None:
    with pytest.raises(
        NotAllowed, match="/sound/y: expected a local file.*--allow-down"
    ):
        local_path(f"{server.address}/sound/y", offline=True)
    assert not server.requests


def test_limits_follow_from_the_list_of_models(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{server.address}/too_long/x.hdf5"
    with pytest.raises(InputError, match="expected at most 4,000,000,000 bytes"):
        local_path(url)
    model = PublishedModel("English", "news", (url,), 10.0)
    monkeypatch.setitem(MODELS, "elmo-small", model)
    with pytest.raises(InputError, match="expected at most 44,000,000 bytes"):
        local_path(url)
    set_download_limit(8)
    with pytest.raises(InputError, match="expected at most 8,000,000,000 bytes"):
        local_path(url)


@pytest.mark.slow
def test_commands_limit_downloads(server: Server, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("One .\n")
    call = ["elmo", tmp_path / "in.txt", tmp_path / "out"]
    call += ["--model", f"{server.address}/too_long/x.zip"]
    call += ["--download-limit", "0.001"]
    command = [sys.executable, "-m", "elmo_tasks", *map(str, call)]
    found = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert found.returncode == 1
    assert "expected at most 1,000,000 bytes" in found.stderr.splitlines()[-1]
    assert found.stdout == ""
