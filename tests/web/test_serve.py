"""`elmo-tasks serve`: a real process and real requests."""

import json
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.errors import InputError
from tests.archives.make import STORED
from tests.test_flow import elmo_tasks
from tests.web.serving import Server, serving

ARCHIVES = STORED / "1"
SST = ARCHIVES / "sst.tar.gz"
LONG = {"tokens": ["word"] * 1500}
INPUTS: dict[str, list[Any]] = {
    "ner": [{"sentence": "Captain Oakes sold the ferry."}, {"tokens": ["Mira", "left", "."], "id": 7}],
    "snli": [{"premise": "A man leans on a fence.", "hypothesis": "A man rests."}],
    "squad": [{"passage": "The ferry left in May. Mira sold it.", "question": "Who sold it?", "id": "é"}],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    same = [tmp_path_factory.mktemp("run") / "same" for _ in range(2)]
    for folder in same:
        folder.mkdir()
        shutil.copy(SST, folder / "model.tar.gz")
    options = ["--max-bytes", 20_000, "--max-words", 2000]
    options += ["--threads", torch.get_num_threads(), "--allowed-host", "site.example"]
    with serving(*(ARCHIVES / f"{task}.tar.gz" for task in INPUTS), *same, *options) as running:
        yield running


@pytest.mark.parametrize("task", INPUTS)
def test_predictions_are_those_of_predict(task: str, server: Server, tmp_path: Path) -> None:
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text("".join(json.dumps(one) + "\n" for one in INPUTS[task]))
    elmo_tasks("predict", ARCHIVES / f"{task}.tar.gz", given, "--output-file", out, "--silent")
    found = [server.send(f"/api/predict/{task}", one) for one in INPUTS[task]]
    assert [reply.status for reply in found] == [200] * len(found)
    assert b"".join(reply.body for reply in found) == out.read_bytes()


def test_models(server: Server) -> None:
    about = json.loads(server.send("/api/models").body)
    found = [(one["name"], one["task"]) for one in about["models"]]
    assert found == [*((task, task) for task in INPUTS), ("same", "sst"), ("same-2", "sst")]
    mixes = about["models"][0]["mix"]
    assert [mix["at"] for mix in mixes] == ["input", "output"]
    assert [sum(mix["weights"]) for mix in mixes] == pytest.approx([1.0, 1.0])
    assert about["limits"] == {"bytes": 20_000, "words": 2000}
    for one in about["models"]:
        assert {server.send(f"/api/predict/{one['name']}", example).status for example in one["examples"]} == {200}


@pytest.mark.parametrize(
    ("path", "body", "status", "fragment"),
    [
        ("/api/predict/ner", b"{", 400, "expected JSON"),
        ("/api/predict/ner", b"[" * 19_000, 400, "brackets"),
        ("/api/predict/ner", None, 405, "method POST"),
        ("/api/predict/<b>", {}, 404, "/api/predict/ner"),
        ("/health", {}, 405, "GET"),
        ("http://localhost/", None, 404, "expected one of"),
        ("/api/predict/ner", {"sentence": 3}, 422, "'sentence': expected a valid string"),
        ("/api/predict/ner", {"sentence": "a," * 1001}, 422, "at most 2,000 words"),
        ("/api/predict/ner", {"tokens": ["\ud800"]}, 422, "Unicode"),
        ("/api/predict/ner", b'{"tokens": ["a"], "id": NaN}', 422, "finite"),
        ("/api/predict/ner", b'{"tokens": ["a"], "id": ' + b"9" * 5000 + b"}", 400, "expected JSON"),
        ("/api/predict/same-2", {"tokens": ["a b"] * 2001}, 422, "got 2,001"),
        ("/api/predict/snli", {"premise": "a " * 900, "hypothesis": "a " * 900}, 422, "pairs"),
        ("/api/predict/ner", b" " * 20_001, 413, "at most 20,000 bytes"),
        ("/api/predict/ner", iter([b" " * 11_000] * 2), 413, "at most 20,000 bytes"),
    ],
)
def test_errors(path: str, body: Any, status: int, fragment: str, server: Server) -> None:
    found = server.send(path, body)
    assert (found.status, fragment in json.loads(found.body)["error"]) == (status, True), found.body
    assert found.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 400),
        ({"Host": "evil.example:80@localhost"}, 400),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Host": "Localhost:80", "Origin": "http://localhost:80"}, 200),
        ({"Host": "[::1]:80", "Content-Type": "application/json; charset=utf-8"}, 200),
        ({"Origin": "https://site.example"}, 200),
        ({"Host": "site.example"}, 200),
    ],
)
def test_other_sites(headers: dict[str, str], status: int, server: Server) -> None:
    assert server.send("/api/predict/ner", INPUTS["ner"][1], **headers).status == status
    if "Host" in headers:
        assert server.send("/", **headers).status == status


def test_sigterm_waits_for_all_answers() -> None:
    replies: list[int] = []
    with serving(ARCHIVES / "ner.tar.gz", "--batch-size", 1, "--access-log") as running:
        target = lambda: replies.append(running.send("/api/predict/ner", LONG).status)  # noqa: E731
        threads = [threading.Thread(target=target) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)  # all are connected, the first is computed
        running.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        assert running.process.wait(60) == 0
        assert running.process.stderr is not None
        log = running.process.stderr.read()
    assert replies == [200] * 3
    assert len(re.findall(r"^POST /api/predict/ner 200 \d+ ms$", log, re.MULTILINE)) == 3
    assert log.endswith("\nstopped\n")


def test_clients_that_do_nothing_and_hostile_texts() -> None:
    head = b"POST /api/predict/snli HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    large = json.dumps({"premise": ["a"] * 500, "hypothesis": ["b"] * 500}).encode()  # an answer of 10 MB
    sent = {
        "silent": b"",
        "begun": b"GET /",
        "endless": head + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
        "deaf": head + b"Content-Length: %d\r\n\r\n%s" % (len(large), large),
    }
    with serving(ARCHIVES / "snli.tar.gz", "--timeout", 4) as running, ExitStack() as stack:
        clients = {name: stack.enter_context(socket.create_connection(("127.0.0.1", running.port))) for name in sent}
        for name, client in clients.items():
            client.sendall(sent[name])
        for text, statuses in (
            ("_" * 50_000, {422}),
            ("=" * 50_000, {422}),
            ("x" * 50_000, {200, 422}),
            ("1" * 10**6, {413}),
        ):
            assert running.send("/api/predict/snli", {"premise": text, "hypothesis": "a"}).status in statuses
            start = time.monotonic()
            assert running.send("/health").status == 200 and time.monotonic() - start < 2
        assert clients["endless"].recv(12) == b"HTTP/1.1 408"
        clients["endless"] = stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
        clients["endless"].sendall(sent["endless"])
        running.send("/health")
        running.process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            running.process.wait(1)
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(5) == 0, "the second signal waits for nobody"


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["missing/model.tar.gz"], "missing/model.tar.gz: the archive does not exist"),
        ([SST, "--port", "taken"], "cannot listen at"),
        ([SST, "--host", "\udcff"], "cannot listen at"),
        ([SST, "--timeout", "nan"], "--timeout: expected seconds above 0"),
        ([SST, "--queue", 0], "queue: expected an integer of at least 1"),
    ],
)
def test_invalid_arguments(arguments: list[object], fragment: str, server: Server) -> None:
    given = [server.port if one == "taken" else one for one in arguments]
    with pytest.raises(InputError, match=fragment):
        elmo_tasks("serve", "--port", 0, *given)
