"""`elmo-tasks serve`: a real process and real requests."""

import json
import re
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.probing.corpus_text import read_corpus
from tests.archives.make import STORED
from tests.elmo.samples import write_bilm
from tests.probing.samples import SEMCOR
from tests.test_flow import elmo_tasks
from tests.web.serving import Server, serving

ARCHIVES = STORED / "1"
LONG = {"tokens": ["word"] * 1500}
INPUTS: dict[str, list[Any]] = {
    "ner": [{"sentence": "Captain Oakes sold the ferry."}, {"tokens": ["Mira", "left", "."], "id": 7}],
    "snli": [{"premise": "A man leans on a fence.", "hypothesis": "A man rests."}],
    "squad": [{"passage": "The ferry left in May. Mira sold it.", "question": "Who sold it?", "id": "é"}],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A text, and a biLM's options and weights."""
    text = tmp_path_factory.mktemp("files") / "text"
    text.write_text("She heard the play .\nThey play in the park .\nThe play began .\nA play and a play .\n")
    return text, *write_bilm(text.parent)


@pytest.fixture(scope="module")
def server(files: tuple[Path, str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    same = [tmp_path_factory.mktemp("run") / "same" for _ in range(2)]
    for folder in same:
        folder.mkdir()
        shutil.copy(ARCHIVES / "sst.tar.gz", folder / "model.tar.gz")
    options = ["--max-bytes", 20_000, "--max-words", 2000, "--bilm", f"tiny={files[1]},{files[2]}"]
    options += ["--corpus", files[0], "--corpus", SEMCOR, "--threads", torch.get_num_threads()]
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
    (tiny,) = about["bilms"]
    assert (tiny["name"], tiny["layers"]) == ("tiny", 3) and about["limits"] == {"bytes": 20_000, "words": 2000}
    for one in about["models"]:
        assert {server.send(f"/api/predict/{one['name']}", example).status for example in one["examples"]} == {200}


@pytest.mark.parametrize(
    ("path", "body", "status", "fragment"),
    [
        ("/api/predict/ner", b"{", 400, "expected JSON"),
        ("/api/predict/ner", b"[" * 19_000, 400, "brackets"),
        ("/api/predict/ner", b"{}\n{}", 400, "at character 4"),
        ("/api/predict/ner", None, 405, "Method"),
        ("/api/predict/ner/", {}, 404, "Not Found"),
        ("/api/predict/<b>", {}, 404, "/api/predict/ner"),
        ("/api/map/ner", {}, 404, "/api/map/tiny"),
        ("/api/predict/ner", {"sentence": 3}, 422, "'sentence': expected a valid string"),
        ("/api/predict/ner", {"sentence": "a," * 1001}, 422, "at most 2,000 words"),
        ("/api/predict/same-2", {"tokens": ["a b"] * 2001}, 422, "got 2,001"),
        ("/api/predict/snli", {"premise": "a " * 900, "hypothesis": "a " * 900}, 422, "pairs"),
        ("/api/neighbors/tiny", {"tokens": ["a"], "word": 1}, 422, "'word'"),
        ("/api/map/tiny", {"word": "absent"}, 422, "'absent'"),
        ("/api/predict/ner", b" " * 20_001, 413, "at most 20,000 bytes"),
        ("/api/predict/ner", iter([b" " * 11_000] * 2), 413, "at most 20,000 bytes"),
    ],
)
def test_errors(path: str, body: Any, status: int, fragment: str, server: Server) -> None:
    found = server.send(path, body)
    assert (found.status, fragment in json.loads(found.body)["error"]) == (status, True), found.body
    assert found.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    assert f'route="{"other" if status == 404 else path}",status="{status}"' in server.send("/metrics").body.decode()


@pytest.mark.parametrize("same", [False, True])
def test_neighbors_are_those_of_probe(same: bool, server: Server, files: tuple[Path, str, str], tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text(files[0].read_text() + "".join(" ".join(words) + "\n" for words in read_corpus(SEMCOR)))
    out, tokens = tmp_path / "out.json", ["We", "saw", "a", "play", "."]
    body = {"tokens": tokens, "word": 3, "top": 4, "same": same}
    found = json.loads(server.send("/api/neighbors/tiny", body).body)["layers"]
    for layer in range(3):
        query = ["--corpus", text, "--index", tmp_path / f"{layer}", "--layer", layer, "--top", 4, "--output", out]
        query += ["--options-file", files[1], "--weight-file", files[2], "--sentence", " ".join(tokens)]
        elmo_tasks("probe", "neighbors", "play", *query, *[] if same else ["--any-word"])
        expected = json.loads(out.read_text())["neighbors"]
        assert found[layer] == [{key: one[key] for key in ("words", "place", "cosine")} for one in expected]


def test_map(server: Server) -> None:
    found = json.loads(server.send("/api/map/tiny", {"word": "Play"}).body)
    shown = [(one["words"][one["place"]].lower(), one["sense"]) for one in found["occurrences"]]
    assert {word for word, _ in shown} == {"play"}
    assert [sense for _, sense in shown[:6]] == [None] * 5 + ["play%1:10:01::"]
    for points in map(np.array, found["layers"][1:]):
        assert points.shape == (len(shown), 2) and np.allclose(points.mean(0), 0, atol=1e-6)
        assert points[:, 0].std() > points[:, 1].std() > 0
        assert (points.max(0) >= -points.min(0)).all(), "the largest entry is positive"
    single = json.loads(server.send("/api/map/tiny", {"word": "began"}).body)
    assert single["layers"] == [[[0.0, 0.0]]] * 3


def test_a_client_that_leaves_in_its_body(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"POST /api/predict/snli HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
    until = time.monotonic() + 30
    while not re.search('status="(499|500)"', metrics := server.send("/metrics").body.decode()):
        assert time.monotonic() < until
        time.sleep(0.01)
    assert 'snli",status="499"' in metrics


def arrived(metrics: str) -> int:
    """The requests that wait, run or are answered."""
    return sum(map(int, re.findall(r'(?:waiting|batches_total){model="ner".*} (\d+)', metrics)))


def test_sigterm() -> None:
    replies: list[int] = []
    with serving(ARCHIVES / "ner.tar.gz", "--corpus", SEMCOR, "--batch-size", 1) as running:
        target = lambda: replies.append(running.send("/api/predict/ner", LONG).status)  # noqa: E731
        threads = [threading.Thread(target=target) for _ in range(8)]
        for thread in threads:
            thread.start()
        while arrived(running.send("/metrics").body.decode()) < 8:
            time.sleep(0.01)
        running.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        assert running.process.wait(60) == 0
        assert running.process.stderr is not None and running.process.stderr.read() == "stopped\n"
    assert len(replies) == 8 and set(replies) == {200, 503}


def test_clients_that_do_nothing() -> None:
    with serving("--corpus", SEMCOR) as running, ExitStack() as stack:
        silent, begun, deaf = (stack.enter_context(socket.socket()) for _ in range(3))
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        for client in (silent, begun, deaf):
            client.connect(("127.0.0.1", running.port))
            client.settimeout(30)
        begun.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\nGET /")
        deaf.sendall(b"GET /page.js HTTP/1.1\r\nHost: a\r\n\r\n" * 300)
        assert silent.recv(1) == b"" and b"ok" in b"".join(iter(lambda: begun.recv(4096), b""))
        for _ in range(2):
            running.process.send_signal(signal.SIGINT)
            time.sleep(0.5)
        assert running.process.wait(30) == 0


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["missing/model.tar.gz"], "missing/model.tar.gz: the archive does not exist"),
        ([ARCHIVES / "sst.tar.gz", "--bilm", "options.json"], "expected OPTIONS,WEIGHTS"),
        (["--port", "taken"], "cannot listen at"),
        (["--port", 65_536 + 8000], "must be 0-65535"),
        (["--queue", 0], "queue: expected an integer of at least 1"),
    ],
)
def test_invalid_arguments(arguments: list[object], fragment: str, server: Server) -> None:
    with pytest.raises(InputError, match=fragment):
        elmo_tasks("serve", "--port", 0, *(server.port if one == "taken" else one for one in arguments))
