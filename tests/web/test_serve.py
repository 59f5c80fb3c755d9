"""`elmo-tasks serve`: a real process and real requests."""

import json
import re
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.probing.corpus_text import read_corpus
from tests.archives.make import STORED
from tests.elmo.samples import write_bilm
from tests.probing.samples import SEMCOR
from tests.test_flow import allennlp
from tests.web.serving import Server, serving

ARCHIVES = STORED / "1"
LONG = {"tokens": ["word"] * 1500}
INPUTS: dict[str, list[Any]] = {
    "ner": [{"sentence": "Captain Oakes sold the ferry."}, {"tokens": ["Mira", "left", "."], "id": 7}],
    "snli": [{"premise": "A man leans on a fence.", "hypothesis": "A man rests."}],
    "squad": [{"passage": "The ferry left in May. Mira sold it.", "question": "Who sold it?", "id": "é"}],
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    file.write_text("She heard the play .\nThey play in the park .\nThe play began .\nA play and a play .\n")
    return file


@pytest.fixture(scope="module")
def bilm(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return write_bilm(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def server(corpus: Path, bilm: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folders = [tmp_path_factory.mktemp("run") / "same" for _ in range(2)]
    for folder in folders:
        folder.mkdir()
        shutil.copy(ARCHIVES / "sst.tar.gz", folder / "model.tar.gz")
    archives = [ARCHIVES / f"{task}.tar.gz" for task in INPUTS]
    limits = ["--max-bytes", 20_000, "--max-words", 2000, "--batch-size", 2]
    sources = ["--bilm", ",".join(bilm), "--bilm", f"other={','.join(bilm)}", "--corpus", corpus, "--corpus", SEMCOR]
    with serving(*archives, *folders, *sources, *limits) as running:
        yield running


@pytest.mark.parametrize("task", INPUTS)
def test_predictions_are_those_of_predict(task: str, server: Server, tmp_path: Path) -> None:
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text("".join(json.dumps(one) + "\n" for one in INPUTS[task]))
    allennlp("predict", ARCHIVES / f"{task}.tar.gz", given, "--output-file", out, "--silent")
    found = [server.send(f"/api/predict/{task}", one) for one in INPUTS[task]]
    assert [reply.status for reply in found] == [200] * len(found)
    assert b"".join(reply.body for reply in found) == out.read_bytes()


def test_models(server: Server) -> None:
    about = json.loads(server.send("/api/models").body)
    assert [(one["name"], one["task"]) for one in about["models"]] == [
        *((task, task) for task in INPUTS),
        ("same", "sst"),
        ("same-2", "sst"),
    ]
    mixes = about["models"][0]["mix"]
    assert [mix["at"] for mix in mixes] == ["input", "output"]
    assert [sum(mix["weights"]) for mix in mixes] == pytest.approx([1.0, 1.0])
    assert [one["name"] for one in about["bilms"]][1] == "other" and about["bilms"][0]["layers"] == 3
    assert about["limits"] == {"bytes": 20_000, "words": 2000}
    for one in about["models"]:
        replies = [server.send(f"/api/predict/{one['name']}", example).status for example in one["examples"]]
        assert replies and set(replies) == {200}


@pytest.mark.parametrize(
    ("path", "body", "status", "fragment"),
    [
        ("/api/predict/ner", b"{", 400, "expected JSON"),
        ("/api/predict/ner", b"\xff", 400, "expected JSON"),
        ("/api/predict/ner", b"[" * 19_000, 400, "brackets"),
        ("/api/predict/ner", None, 405, "Method"),
        ("/api/predict/<b>", {}, 404, "/api/predict/ner"),
        ("/api/map/ner", {}, 404, "/api/map/other"),
        ("/nothing", None, 404, "Not Found"),
        ("/api/predict/ner", {"sentence": 3}, 422, "'sentence': expected a valid string"),
        ("/api/predict/ner", {"sentence": "a," * 1001}, 422, "at most 2,000 words"),
        ("/api/predict/snli", {"premise": "a " * 900, "hypothesis": "a " * 900}, 422, "pairs"),
        ("/api/neighbors/other", {"tokens": ["a"], "word": 1}, 422, "'word'"),
        ("/api/map/other", {"word": "absent"}, 422, "'absent'"),
        ("/api/predict/ner", b" " * 20_001, 413, "at most 20,000 bytes"),
        ("/api/predict/ner", iter([b" " * 11_000] * 2), 413, "at most 20,000 bytes"),
    ],
)
def test_errors(path: str, body: Any, status: int, fragment: str, server: Server) -> None:
    found = server.send(path, body)
    assert (found.status, fragment in found.error) == (status, True), found.error
    assert found.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    assert found.headers["X-Content-Type-Options"] == "nosniff" and "Set-Cookie" not in found.headers


@pytest.mark.parametrize("same", [False, True])
def test_neighbors_are_those_of_probe(
    same: bool, server: Server, corpus: Path, bilm: tuple[str, str], tmp_path: Path
) -> None:
    merged = tmp_path / "text"
    merged.write_text(corpus.read_text() + "".join(" ".join(words) + "\n" for words in read_corpus(SEMCOR)))
    tokens = ["We", "saw", "a", "play", "."]
    body = {"tokens": tokens, "word": 3, "top": 4, "same": same}
    found = json.loads(server.send("/api/neighbors/other", body).body)["layers"]
    for layer in range(3):
        query = ["play", "--corpus", merged, "--index", tmp_path / f"{layer}", "--layer", layer, "--top", 4]
        files = ["--options-file", bilm[0], "--weight-file", bilm[1], "--output", tmp_path / "out.json"]
        allennlp("probe", "neighbors", *query, *files, "--sentence", " ".join(tokens), *[] if same else ["--any-word"])
        expected = json.loads((tmp_path / "out.json").read_text())["neighbors"]
        assert found[layer] == [{key: one[key] for key in ("words", "place", "cosine")} for one in expected]


def test_map(server: Server) -> None:
    found = json.loads(server.send("/api/map/other", {"word": "Play"}).body)
    shown = [(one["words"][one["place"]].lower(), one["sense"]) for one in found["occurrences"]]
    assert [word for word, _ in shown] == ["play"] * len(shown)
    assert [sense for _, sense in shown[:5]] == [None] * 5 and shown[5][1] == "play%1:10:01::"
    assert [len(points) for points in found["layers"]] == [len(shown)] * 3
    alone = json.loads(server.send("/api/map/other", {"word": "park"}).body)
    assert len(alone["occurrences"]) >= 1


def test_metrics(server: Server) -> None:
    server.send("/api/predict/ner", {"sentence": 3})
    shown = server.send("/metrics").body.decode()
    assert 'elmo_tasks_requests_total{route="/api/predict/ner",status="422"}' in shown
    assert 'elmo_tasks_batches_total{model="ner",size="1"}' in shown and "<b>" not in shown


def arrived(metrics: str) -> int:
    """The requests that wait, run or are answered."""
    return sum(map(int, re.findall(r'(?:waiting|batches_total){model="ner".*} (\d+)', metrics)))


def test_sigterm() -> None:
    replies: list[int] = []
    with serving(ARCHIVES / "ner.tar.gz", "--corpus", SEMCOR, "--batch-size", 1) as running:
        threads = [
            threading.Thread(target=lambda: replies.append(running.send("/api/predict/ner", LONG).status))
            for _ in range(8)
        ]
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


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["missing/model.tar.gz"], "missing/model.tar.gz: the archive does not exist"),
        ([ARCHIVES / "sst.tar.gz", "--bilm", "options.json"], "expected OPTIONS,WEIGHTS"),
        (["--queue", 0], "queue: expected an integer of at least 1"),
        (["--host", "no.such.host.invalid"], "cannot listen at no.such.host.invalid:8000"),
    ],
)
def test_invalid_arguments(arguments: list[object], fragment: str) -> None:
    with pytest.raises(InputError) as caught:
        allennlp("serve", *arguments)
    assert fragment in str(caught.value)


def test_port_in_use(server: Server) -> None:
    with pytest.raises(InputError, match="cannot listen at"):
        allennlp("serve", "--port", server.port)
