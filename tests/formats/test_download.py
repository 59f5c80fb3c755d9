"""Downloads from servers that stall, cut, lie and never end."""

import errno
import gzip
import hashlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.formats.cache_folder import download_target
from elmo_tasks.formats.fetch import downloads, local_path, model_path
from elmo_tasks.formats.models import MODELS, PublishedModel
from elmo_tasks.formats.text_files import open_text
from tests.disk import file_size_limit
from tests.elmo.samples import random_bilm, write_bilm
from tests.memory import grown
from tests.web_server import CONTENT, HALF, LARGE, Server, serving

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
        ("stalls_always", "the connection stalled|timed out"),
        ("trickles", "the connection stalled"),
        ("trickles_headers", "the connection stalled"),
        ("continues", "the connection stalled|got more than"),
        ("many_headers", "got more than 100 headers"),
        ("endless", "expected at most 1,000,000 bytes, got more .--download-limit"),
        ("endless_chunks", "expected at most 1,000,000 bytes, got more"),
        (
            "endless_trailer",
            "the connection stalled|expected|got more than 100 trailers",
        ),
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


def test_a_call_says_that_it_waits_for_another(
    server: Server, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"{server.address}/slow/x.bin"
    code = f"from elmo_tasks.formats.fetch import local_path; local_path({url!r})"
    process = subprocess.Popen([sys.executable, "-c", code])
    while not server.count["slow"]:
        time.sleep(0.01)
    assert local_path(url).read_bytes() == CONTENT
    assert process.wait() == 0 and server.count["slow"] == 1
    message = "/slow/x.bin: waiting for another process that is downloading it"
    assert message in caplog.text


def test_a_full_disk_is_one_error(server: Server, cache: Path) -> None:
    with (
        file_size_limit(HALF),
        pytest.raises(InputError, match="cannot write: File too large"),
    ):
        local_path(f"{server.address}/sound/x.bin")
    assert not whole(cache) and not list(cache.rglob("*.part"))
    with (
        pytest.raises(InputError, match="expected 1,000,000,000,000,000 bytes of free"),
        downloads(limit_gb=10**9),
    ):
        local_path(f"{server.address}/too_long/x.bin")


def test_the_space_that_is_needed(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of what has not come yet."""
    free = len(CONTENT) - 1
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    problem = "expected 256,000 bytes of free disk space, got 255,999"
    with pytest.raises(InputError, match=f"downloads/.*: {problem}"):
        local_path(f"{server.address}/sound/x.bin")
    assert not list(cache.rglob("*.part"))
    free = len(CONTENT)
    assert local_path(f"{server.address}/sound/x.bin").read_bytes() == CONTENT
    with pytest.raises(InputError, match="repeat the call to resume"):
        local_path(f"{server.address}/half/x.bin")
    free = HALF - 1
    with pytest.raises(InputError, match="expected 128,000 bytes of .*, got 127,999"):
        local_path(f"{server.address}/half/x.bin")
    assert len(list(cache.rglob("*.part"))) == 1


def test_the_digest_is_checked_before_a_file_is_kept(
    server: Server, cache: Path
) -> None:
    url = f"{server.address}/sound/x.bin"
    with pytest.raises(InputError, match="expected sha256=0+, got") as error:
        local_path(f"{url}#sha256={'0' * 64}")
    assert "first download" not in str(error.value)
    assert not whole(cache)
    assert local_path(f"{url}#sha256={SHA256}").read_bytes() == CONTENT


def test_a_later_download_is_compared_with_the_first(
    server: Server, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Over http, without a checksum."""
    url = f"{server.address}/shorter/x.bin"
    for _ in range(2):
        local_path(url).unlink()
    assert len(caplog.messages) == 1
    assert "shorter/x.bin came without encryption or checksum" in caplog.messages[0]
    (note,) = (cache / "first").iterdir()
    note.write_text(SHA256)
    with pytest.raises(InputError, match="differs from the first download .*remove"):
        local_path(url)
    assert not whole(cache)


def test_limits_of_the_list_of_models(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = (f"{server.address}/sound/o.bin", f"{server.address}/sound/w.bin")
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
        with pytest.raises(
            InputError, match=r"/sound/y: expected a local file.*--allow-down"
        ):
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


@pytest.fixture
def plain_https(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of the server with https, which is spoken without encryption."""
    connect = http.client.HTTPConnection.connect
    monkeypatch.setattr(http.client.HTTPSConnection, "connect", connect)
    return server.address.replace("http:", "https:")


def test_redirects_from_https_lead_to_https_alone(
    plain_https: str, server: Server, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = local_path(f"{plain_https}/to/{plain_https}/sound/x.bin")
    assert path.read_bytes() == CONTENT
    with pytest.raises(InputError, match="it is redirected from https to http$"):
        local_path(f"{plain_https}/to/SERVER/sound/x.bin?sig=SECRET")
    secure = local_path(f"{server.address}/to/{plain_https}/sound/x.bin")
    assert secure.read_bytes() == CONTENT
    assert server.count["sound"] == 2 and len(whole(cache)) == 2
    # Of what came by https from the first address on, nothing is noted.
    assert len(caplog.messages) == 1 and "SECRET" not in caplog.text


def test_published_files_are_compared_over_https_too(
    plain_https: str,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Those of others may change; both come without a warning."""
    url = f"{plain_https}/sound/w.bin"
    local_path(url).unlink()
    assert not (cache / "first").exists()
    monkeypatch.setitem(MODELS, "elmo-small", PublishedModel("English", "", (url,)))
    local_path(url).unlink()
    (note,) = (cache / "first").iterdir()
    note.write_text("0" * 64)
    with pytest.raises(InputError, match="differs from the first download .*remove"):
        local_path(url)
    assert not caplog.messages


def test_nine_redirects_are_followed(server: Server) -> None:
    def address(count: int) -> str:
        return f"{server.address}/{'to/SERVER/' * count}sound/x.bin"

    assert local_path(address(9)).read_bytes() == CONTENT
    with pytest.raises(InputError, match="too many redirections"):
        local_path(address(10))


def test_a_connection_that_often_breaks_is_followed_to_the_end(server: Server) -> None:
    """Attempts are counted anew after a megabyte: here each brings more, seven times."""
    path = local_path(f"{server.address}/often_cut/x.bin")
    assert path.read_bytes() == LARGE
    assert server.count["often_cut"] == 8


def test_five_attempts_wait_longer_each_time(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    url = f"{server.address}/shut/x.bin?sig=SECRET"
    with (
        downloads(wait=3.0),
        pytest.raises(InputError, match="cannot fetch .*: HTTP Error 503: ") as caught,
    ):
        local_path(url)
    assert waited == [3, 6, 12, 24] and server.count["shut"] == 5
    assert "SECRET" not in str(caught.value) and "resumes" not in str(caught.value)
    assert not whole(cache) and not list(cache.rglob("*.part"))


def test_a_download_that_failed_can_be_resumed(server: Server, cache: Path) -> None:
    with pytest.raises(InputError, match="bytes, got .*repeat the call to resume"):
        local_path(f"{server.address}/half/x.bin")
    (part,) = cache.rglob("*.part")
    assert part.read_bytes() == CONTENT[:HALF] and not whole(cache)


@pytest.mark.parametrize(
    ("status", "attempts"),
    [(400, 1), (403, 1), (404, 1), (408, 5), (425, 5), (429, 5), (500, 5), (503, 5)],
)
def test_statuses(
    status: int, attempts: int, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that may pass are tried again."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with pytest.raises(InputError, match=f"cannot fetch .*: HTTP Error {status}"):
        local_path(f"{server.address}/status/{status}")
    assert server.count["status"] == attempts


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_statuses_of_redirects(status: int, server: Server) -> None:
    url = f"{server.address}/redirect/{status}"
    assert local_path(url).read_bytes() == CONTENT


@pytest.mark.parametrize("status", [201, 204, 300, 304])
def test_other_statuses(status: int, server: Server, cache: Path) -> None:
    with pytest.raises(InputError, match=f"cannot fetch .*HTTP .*{status}"):
        local_path(f"{server.address}/status/{status}")
    assert not whole(cache)


def test_the_size_of_a_download_is_that_of_its_limit(server: Server) -> None:
    url = f"{server.address}/sound/x.bin"
    with downloads(limit_gb=(len(CONTENT) - 1) / 1e9):
        problem = "expected at most 255,999 bytes, got 256,000 .--download-limit raises"
        with pytest.raises(InputError, match=problem):
            local_path(url)
    with downloads(limit_gb=len(CONTENT) / 1e9):
        assert local_path(url).read_bytes() == CONTENT
        assert local_path(f"{server.address}/unsized/x").read_bytes() == CONTENT


def test_four_gigabytes_are_the_limit_of_what_is_not_known(server: Server) -> None:
    with pytest.raises(InputError, match="expected at most 4,000,000,000 bytes"):
        local_path(f"{server.address}/too_long/x.bin")


def test_what_the_server_is_asked_for(server: Server) -> None:
    local_path(f"{server.address}/sound/x.bin?a=b#sha256={SHA256}")
    ((path, headers),) = server.requests
    assert path == "/sound/x.bin?a=b"
    assert headers["User-Agent"] == "elmo-tasks"
    assert headers["Accept-Encoding"] == "identity"
    assert "Authorization" not in headers and "Range" not in headers


def test_a_host_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not asked for again."""

    def unknown(*arguments: object, **options: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(InputError, match="http://gone/x: .*Name or service not known"):
        local_path("http://gone/x")
    assert waited == []


def test_a_file_system_without_locks(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Nothing is resumed, and nothing stays that another process could take for its own.
    """

    def no_lock(*arguments: object, **options: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr("filelock.FileLock.acquire", no_lock)
    with pytest.raises(InputError, match="bytes, got"):
        local_path(f"{server.address}/half/x.bin")
    assert not list(cache.rglob("*.part")) and not list(cache.rglob("*.json"))
    assert local_path(f"{server.address}/cut/x.bin").read_bytes() == CONTENT
    assert not list(cache.rglob("*.part")) and len(whole(cache)) == 1


def test_progress(server: Server) -> None:
    seen: list[tuple[str, int, int | None]] = []
    with downloads(progress=lambda *values: seen.append(values)):
        local_path(f"{server.address}/sound/x.bin?sig=SECRET")
        assert seen[-1][1:] == (len(CONTENT), len(CONTENT))
        local_path(f"{server.address}/unsized/x.bin")
    assert seen[-1][1:] == (len(CONTENT), None)
    done = [one for name, one, _ in seen if "sound" in name]
    assert done == sorted(done) and "SECRET" not in str(seen)


def test_settings_of_downloads_are_kept_within(server: Server) -> None:
    with downloads(limit_gb=0.001), downloads(seconds=2.0):
        with pytest.raises(InputError, match="at most 1,000,000 bytes"):
            local_path(f"{server.address}/too_long/x")
        with downloads(allowed=False), pytest.raises(InputError, match="--allow-down"):
            local_path(f"{server.address}/sound/x")
        assert local_path(f"{server.address}/sound/x").read_bytes() == CONTENT


def test_other_errors_pass_where_nothing_may_be_fetched() -> None:
    with pytest.raises(KeyError, match="x"), downloads(allowed=False):
        raise KeyError("x")
    with pytest.raises(InputError, match="of the file"), downloads(allowed=False):
        raise InputError("of the file")


class OfflineModeIsEnabled(Exception):
    """Named as that of the hub's library."""


def test_offline_errors_of_the_hub() -> None:
    for chain in ("cause", "context", "itself"):
        with (
            pytest.raises(InputError, match="hf://: expected a local file"),
            downloads(allowed=False),
        ):
            _raise_offline(chain)
    with pytest.raises(OfflineModeIsEnabled), downloads():
        raise OfflineModeIsEnabled


def _raise_offline(chain: str) -> None:
    if chain == "itself":
        raise OfflineModeIsEnabled
    try:
        raise OfflineModeIsEnabled
    except OfflineModeIsEnabled as error:
        if chain == "cause":
            raise KeyError("x") from error
        raise KeyError("x")  # noqa: B904 (it has a context, and no cause)


def test_a_cache_that_cannot_be_written(server: Server, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "downloads").touch()
    with pytest.raises(InputError, match=f"cannot write: {os.strerror(errno.ENOTDIR)}"):
        local_path(f"{server.address}/sound/x.bin")


@pytest.mark.slow
def test_commands_limit_downloads(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.txt").write_text("One .\n")
    call = ["elmo", tmp_path / "in.txt", tmp_path / "out"]
    call += ["--model", f"{server.address}/too_long/x.zip?sig=SECRET"]
    call += ["--download-limit", "0.001"]
    command = [sys.executable, "-m", "elmo_tasks", *map(str, call)]
    found = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert found.returncode == 1 and "SECRET" not in found.stderr
    assert "expected at most 1,000,000 bytes" in found.stderr.splitlines()[-1]
    assert json.dumps(found.stdout) == '""'


PARTS = {
    "none": b"",
    "some": CONTENT[:HALF],
    "all": CONTENT,
    "more": CONTENT + b"more",
    "others": b"x" * HALF,
    "as many others": b"x" * len(CONTENT),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "name", ["with_range", "range_without_size", "unsized", "sound"]
)
def test_whatever_has_come_of_a_file(
    name: str, part: str, server: Server, cache: Path
) -> None:
    """The next call, or the one after it, has the whole file."""
    url = f"{server.address}/{name}/x.bin"
    target = download_target(url)
    target.parent.mkdir(parents=True)
    target.with_name(".x.bin.part").write_bytes(PARTS[part])
    target.with_name(".x.bin.json").write_text('{"validator": "\\"1\\""}')
    try:
        path = local_path(f"{url}#sha256={SHA256}")
    except InputError as error:
        assert "others" in part and "expected sha256=" in str(error)
        path = local_path(f"{url}#sha256={SHA256}")
    assert path.read_bytes() == CONTENT
    assert not list(cache.rglob("*.part"))


def test_a_file_that_has_come_whole_is_not_fetched_again(
    server: Server, cache: Path
) -> None:
    """As after Ctrl-C while its digest is computed."""
    url = f"{server.address}/with_range/x.bin"
    target = download_target(url)
    target.parent.mkdir(parents=True)
    target.with_name(".x.bin.part").write_bytes(CONTENT)
    target.with_name(".x.bin.json").write_text('{"validator": "\\"1\\""}')
    assert local_path(url).read_bytes() == CONTENT
    assert server.count["with_range"] == 1


def sound_files(folder: Path) -> dict[str, bytes]:
    """The content of a whole file of each kind, by the end of its name."""
    write_bilm(folder)
    random_bilm().save_files(folder / "c.json", folder / "w.safetensors")
    with zipfile.ZipFile(folder / "m.zip", "w") as packed:
        packed.write(folder / "options.json", "options.json")
    names = ("options.json", "weights.hdf5", "w.safetensors", "m.zip")
    files = {name.partition(".")[2]: (folder / name).read_bytes() for name in names}
    return files | {"h5": files["hdf5"], "gz": gzip.compress(b"text")}


@pytest.mark.parametrize("kind", ["json", "hdf5", "h5", "safetensors", "zip", "gz"])
def test_what_is_not_what_its_name_says_is_not_kept(
    kind: str, server: Server, cache: Path, tmp_path: Path
) -> None:
    """The server does not say how much it has, so that only the content tells."""
    content = sound_files(tmp_path)[kind]
    url = f"{server.address}/given/x.{kind}"
    page = b"<!DOCTYPE html><html>Log in</html>"
    others = [page, b"\n " + page, b"", b"no", content[: len(content) // 2]]
    if kind != "gz":
        others.append(content[:-1])
    if kind == "json":
        others[-1] = content.rstrip()[:-1]
    if kind == "gz":
        others.remove(content[: len(content) // 2])
    for given in others:
        server.given = given
        with pytest.raises(
            InputError, match="expected a.*got.*repeating the call"
        ) as error:
            local_path(url)
        assert "\n" not in str(error.value)
        assert not whole(cache) and not list(cache.rglob("*.part"))
        assert not (cache / "first").exists()
    server.given = content
    assert local_path(url).read_bytes() == content
    assert (cache / "first").exists()


@pytest.mark.parametrize("name", ["x", "x.txt", "download?id=3"])
def test_what_a_name_does_not_say(
    name: str, server: Server, cache: Path, tmp_path: Path
) -> None:
    url = f"{server.address}/given/{name}"
    files = sound_files(tmp_path)
    for given in (b"<html></html>", files["zip"][:-1], files["hdf5"][:-1]):
        server.given = given
        with pytest.raises(InputError, match="repeating the call downloads it again"):
            local_path(url)
    server.given = b"text"
    assert local_path(url).read_bytes() == b"text"


def test_a_zip_that_is_damaged_inside_is_not_kept(
    server: Server, cache: Path, tmp_path: Path
) -> None:
    """It is whole, so that only unpacking tells."""
    content = sound_files(tmp_path)["zip"]
    url = f"{server.address}/given/x.zip"
    server.given = content.replace(b"lstm", b"LSTM")
    with pytest.raises(InputError, match="cannot be unpacked.*download it again"):
        model_path(url)
    assert not whole(cache) and not list((cache / "first").iterdir())
    server.given = content
    assert os.listdir(model_path(url)) == ["options.json"]
