"""Downloads from servers that stall, cut, lie and never end."""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetch import downloads, local_path
from elmo_tasks.formats.models import MODELS, PublishedModel
from elmo_tasks.formats.text_files import open_text
from tests.disk import file_size_limit
from tests.memory import grown
from tests.web_server import CONTENT, HALF, Server, serving

SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with downloads(wait=0.01, seconds=1.0):
        yield tmp_path / "cache/elmo_tasks"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def whole(folder: Path) -> list[Path]:
    """The files of a cache that are complete."""
    files = folder.glob("downloads/*/*")
    return [path for path in files if not path.name.startswith(".")]


@pytest.mark.parametrize(
    ("name", "requests"),
    [
        ("sound", 1),
        ("cut", 4),
        ("by_time", 2),
        ("without_range", 3),
        ("without_version", 2),
        ("changed", 2),
        ("changed_in_part", 3),
        ("wrong_part", 3),
        ("unavailable", 3),
        ("stalls", 2),
        ("slow", 1),
        ("to/SERVER/sound", 1),
    ],
)
def test_a_file_arrives_whole(
    name: str, requests: int, server: Server, cache: Path
) -> None:
    seen: list[int] = []
    with downloads(progress=lambda name, done, size: seen.append(done)):
        path = local_path(f"{server.address}/{name}/x.bin")
    assert path.read_bytes() == CONTENT and seen[-1] == len(CONTENT)
    assert server.count[name.split("/")[-1]] == requests
    assert local_path(f"{server.address}/{name}/x.bin") == path
    assert server.count[name.split("/")[-1]] == requests
    assert not list(cache.rglob("*.part")) and whole(cache) == [path]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("stalls_always", "the connection stalls|timed out"),
        ("trickles", "the connection stalls"),
        ("trickles_headers", "the connection stalls"),
        ("continues", "the connection stalls|got more than"),
        ("many_headers", "got more than 100 headers"),
        ("endless", "expected at most 1,000,000 bytes, got more .--download-limit"),
        ("endless_chunks", "expected at most 1,000,000 bytes, got more"),
        ("endless_trailer", "the connection stalls|expected"),
        ("endless_error", "HTTP Error 404"),
        ("too_long", "expected at most 1,000,000 bytes, got 1,000,000,000,000,000"),
        ("longer", rf"expected {len(CONTENT) + 9} bytes, got {len(CONTENT)}"),
        ("gone", "HTTP Error 404"),
        ("login", "HTTP Error 401"),
        ("around", "too many redirections"),
        ("to/file:///etc/passwd", "begins with https://.*, got file:///etc/passwd"),
        ("to/ftp://127.0.0.1/x", "begins with https://"),
        ("to/data:text/plain,x", "begins with https://"),
        ("to/http://[", "Invalid IPv6 URL"),
    ],
)
def test_what_is_no_file_is_one_error(
    name: str, problem: str, server: Server, cache: Path
) -> None:
    with (
        downloads(limit_gb=0.001, seconds=0.2),
        grown() as memory,
        pytest.raises(InputError, match=problem) as error,
    ):
        local_path(f"{server.address}/{name}/x.bin?sig=SECRET")
    assert "SECRET" not in str(error.value) and "\n" not in str(error.value)
    assert memory[0] < 2**26 and not whole(cache)


def test_redirects_with_an_endless_body(server: Server) -> None:
    path = local_path(f"{server.address}/endless_redirect/x")
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "file:///dev/zero",
        "ftp://127.0.0.1/x",
        "s3://bucket/x",
        "data://x",
        "http://",
        "http:///x",
        "http://127.0.0.1:x/",
        "https://[/x",
        "http://127.0.0.1:1/ x",
    ],
)
def test_other_addresses_are_one_error(url: str) -> None:
    with pytest.raises(InputError):
        local_path(url)


def test_another_process_goes_on_where_one_was_cut(server: Server, cache: Path) -> None:
    url = f"{server.address}/stalls/x.bin"
    code = f"from elmo_tasks.formats.fetch import local_path; local_path({url!r})"
    process = subprocess.Popen([sys.executable, "-c", code], env=os.environ)
    part = None
    while part is None or part.stat().st_size < HALF:
        time.sleep(0.02)
        part = next(cache.rglob("*.part"), None)
    process.kill()
    process.wait()
    assert local_path(url).read_bytes() == CONTENT
    assert server.requests[-1][1]["Range"] == f"bytes={HALF}-"


def test_processes_that_want_the_same_file(server: Server, cache: Path) -> None:
    url = f"{server.address}/slow/x.bin"
    code = (
        f"from elmo_tasks.formats.fetch import local_path; print(local_path({url!r}))"
    )
    calls = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    found = {call.communicate()[0].decode().strip() for call in calls}
    assert found == {str(whole(cache)[0])} and server.count["slow"] == 1
    assert whole(cache)[0].read_bytes() == CONTENT


def test_a_full_disk_is_one_error(server: Server, cache: Path) -> None:
    with (
        file_size_limit(HALF),
        pytest.raises(InputError, match="cannot write: File too large"),
    ):
        local_path(f"{server.address}/sound/x.bin")
    assert not whole(cache) and not list(cache.rglob("*.part"))
    with (
        pytest.raises(InputError, match="of free disk space, got"),
        downloads(limit_gb=10**9),
    ):
        local_path(f"{server.address}/too_long/x.bin")


def test_the_digest_is_checked_before_a_file_is_kept(
    server: Server, cache: Path
) -> None:
    url = f"{server.address}/sound/x.bin"
    with pytest.raises(InputError, match="expected sha256=0+, got"):
        local_path(f"{url}#sha256={'0' * 64}")
    assert not whole(cache)
    assert local_path(f"{url}#sha256={SHA256}").read_bytes() == CONTENT


def test_a_later_download_is_compared_with_the_first(
    server: Server, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Over http, without a checksum."""
    url = f"{server.address}/shorter/x.bin"
    for _ in range(2):
        local_path(url).unlink()
    assert "without encryption and checksum" in caplog.text
    (note,) = (cache / "first").iterdir()
    note.write_text(SHA256)
    with pytest.raises(InputError, match="differs from the first download .*remove"):
        local_path(url)
    assert not whole(cache)


def test_limits_of_the_list_of_models(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = (f"{server.address}/sound/o.json", f"{server.address}/sound/w.hdf5")
    model = PublishedModel("English", "", files, 0.01)
    monkeypatch.setitem(MODELS, "elmo-small", model)
    with pytest.raises(InputError, match="expected at most 44,000 bytes, got 256,000"):
        local_path(files[1])
    with downloads(limit_gb=0.001):
        assert local_path(files[1]).read_bytes() == CONTENT
    assert {name: model for name, model in MODELS.items() if model.is_bilm}
    assert MODELS["elmo-original"].most_bytes("w.hdf5") == pytest.approx(4.1e8, rel=0.1)


def test_a_login_goes_to_its_own_server_alone(server: Server) -> None:
    address = server.address.replace("//", "//ann:pass%2Fword@")
    assert local_path(f"{address}/login/x").read_bytes() == CONTENT
    local_path(
        f"{address}/to/{server.address.replace('127.0.0.1', 'localhost')}/sound/x"
    )
    path, headers = server.requests[-1]
    assert path == "/sound/x" and "Authorization" not in headers


def test_the_key_of_a_url_is_no_part_of_its_place(server: Server) -> None:
    """An archive, which has no key, finds the file; another query is another file."""
    path = local_path(f"{server.address}/sound/x?sig=SECRET&v=1")
    known = [found for found, _ in server.requests]
    assert known == ["/sound/x?sig=SECRET&v=1"]
    digest = hashlib.sha256(b"SECRET").hexdigest()[:8]
    one = hashlib.sha256(b"1").hexdigest()[:8]
    assert local_path(f"{server.address}/sound/x?sig=~{digest}&v=~{one}") == path
    assert local_path(f"{server.address}/sound/x?sig=SECRET&v=2") != path
    with pytest.raises(InputError, match="expected an address with its key"):
        local_path(f"{server.address}/sound/y?sig=~{digest}")


def test_nothing_is_fetched_where_that_is_not_allowed(
    server: Server, tmp_path: Path
) -> None:
    path = local_path(f"{server.address}/sound/x")
    with downloads(allowed=False):
        assert local_path(f"{server.address}/sound/x") == path
        with pytest.raises(InputError, match="--allow-downloads"):
            local_path(f"{server.address}/sound/y")
        with pytest.raises(InputError, match="--allow-downloads"):
            list(open_text("s3://bucket/vectors.txt"))
        with pytest.raises(InputError, match="--allow-downloads"):
            Elmo.from_pretrained("elmo-small")
    with pytest.raises(match="127.0.0.1"), downloads(allowed=False):
        import urllib.request

        urllib.request.urlopen(f"{server.address}/sound/y")
    with pytest.raises(match="true"), downloads(allowed=False):
        subprocess.run(["true"], check=True)
    subprocess.run(["true"], check=True)
    assert server.count["sound"] == 1


@pytest.mark.slow
def test_commands_limit_downloads(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.txt").write_text("One .\n")
    call = ["elmo", tmp_path / "in.txt", tmp_path / "out"]
    call += ["--weight-file", f"{server.address}/too_long/x.zip?sig=SECRET"]
    call += ["--download-limit", "0.001"]
    command = [sys.executable, "-m", "elmo_tasks", *map(str, call)]
    found = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert found.returncode == 1 and "SECRET" not in found.stderr
    assert "expected at most 1,000,000 bytes" in found.stderr.splitlines()[-1]
    assert json.dumps(found.stdout) == '""'
