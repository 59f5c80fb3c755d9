"""`elmo-tasks serve`: a real process and real requests."""

import json
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from tests.archives.make import STORED
from tests.system import is_alive, processes
from tests.test_flow import elmo_tasks
from tests.web.serving import Server, serving

pytestmark = pytest.mark.slow

ARCHIVES = STORED / "1"
SST = ARCHIVES / "sst.tar.gz"
LONG = {"tokens": ["word"] * 300}
INPUTS: dict[str, list[Any]] = {
    "ner": [
        {"sentence": "Captain Oakes sold the ferry."},
        {"tokens": ["Mira", "left", "."], "id": 7},
        {"tokens": ["a"], "id": "\ud800"},
        {"tokens": ["a"], "id": {"\udfff": [1e-7, 10**30, -0.0, None]}},
    ],
    "snli": [{"premise": "A man leans on a fence.", "hypothesis": "A man rests."}],
    "squad": [
        {
            "passage": "The ferry left in May. Mira sold it.",
            "question": "Who sold it?",
            "id": "é",
        }
    ],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    run = tmp_path_factory.mktemp("runs") / "sst-1"
    (run / "model").mkdir(parents=True)
    shutil.copy(SST, run / "model" / "model.tar.gz")
    archives = [ARCHIVES / f"{task}.tar.gz" for task in INPUTS]
    names = ("--allow-host", "elmo", "--allow-host", "*.example.com")
    with serving(*archives, run / "model", f"other={SST}", *names) as running:
        yield running


@pytest.mark.parametrize("task", INPUTS)
def test_predictions_are_those_of_predict(
    task: str, server: Server, tmp_path: Path
) -> None:
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text("".join([json.dumps(one) + "\n" for one in INPUTS[task]]))
    elmo_tasks("predict", ARCHIVES / f"{task}.tar.gz", given, "--output-file", out)
    found = b""
    for one in INPUTS[task]:
        reply = server.send(f"/api/predict/{task}", one)
        assert reply.status == 200
        found += reply.body
    assert found == out.read_bytes()


def test_models(server: Server) -> None:
    about = json.loads(server.send("/api/models").body)
    found = [(one["name"], one["task"]) for one in about["models"]]
    expected = [(task, task) for task in INPUTS]
    assert found == expected + [("sst-1", "sst"), ("other", "sst")]
    below, above = about["models"][0]["mix"]
    assert (below["at"], above["at"]) == ("input", "output")
    assert sum(below["weights"]) == pytest.approx(1.0)
    assert sum(above["weights"]) == pytest.approx(1.0)
    for tab in about["tasks"].values():
        assert tab["examples"] == [], "no model is of the synthetic corpus"


@pytest.mark.parametrize(
    ("path", "body", "status", "fragment"),
    [
        ("/api/predict/ner", b"{", 422, "expected JSON"),
        ("/api/predict/ner", b"", 422, "expected a JSON object"),
        (
            "/api/predict/ner",
            b'{"tokens": ["a"], "tokens": ["b"]}',
            422,
            "stands twice",
        ),
        ("/api/predict/ner", b"null", 422, "expected an object"),
        ("/api/predict/ner", {"tokens": ["\ud800"]}, 422, "valid Unicode"),
        ("/api/predict/ner", {"\ud800": 1}, 422, "unicode string"),
        ("/api/predict/ner", b"[" * 19_000, 400, "parsing the body"),
        ("/api/predict/ner", None, 405, "Method Not Allowed"),
        ("/api/predict/<b>", {}, 404, "Not Found"),
        ("/api/predict/ner", b'{"tokens": ["a"], "id": NaN}', 422, "a value of JSON"),
        (
            "/api/predict/ner",
            {"sentence": 3},
            422,
            "'sentence': expected a valid string",
        ),
        ("/api/predict/ner", iter([b" " * 15_000] * 2), 413, "at most 20,000 bytes"),
    ],
)
def test_errors(
    path: str, body: Any, status: int, fragment: str, server: Server
) -> None:
    found = server.send(path, body)
    assert (found.status, fragment in json.loads(found.body)["error"]) == (
        status,
        True,
    ), found.body
    assert found.headers["Content-Security-Policy"].startswith(
        "default-src 'none'; script-src 'self'"
    )


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("192.168.1.5:8000", 200),
        ("[::1]:80", 200),
        ("elmo:8000", 200),
        ("a.example.com", 200),
        ("example.com", 400),
        ("evil.example", 400),
        ("1.2.3.4.evil.example", 400),
        ("evil.example:80@localhost", 400),
    ],
)
def test_names_of_the_server(host: str, status: int, server: Server) -> None:
    reply = server.send("/health", Host=host)
    assert reply.status == status
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("name", ["elmo:8000", "http://elmo", "a*b", "*.", ""])
def test_what_is_no_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        elmo_tasks("serve", SST, "--allow-host", name)
    assert "expected a name without port, such as elmo" in capsys.readouterr().err


@pytest.mark.parametrize("options", [(), ("--workers", 2)])
def test_a_file_that_is_broken_is_named(
    options: tuple[Any, ...], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.tar.gz"
    broken.write_bytes(SST.read_bytes()[:30_000])
    with pytest.raises(InputError, match=r"broken.tar.gz: .*cannot be unpacked"):
        elmo_tasks("serve", "--port", 0, SST, broken, *options)


def test_two_processes_answer_until_sigterm() -> None:
    with serving(SST, "--workers", 2, "--allow-host", "*", "--timeout", 600) as running:
        own = running.process.pid
        replies = []
        for _ in range(20):
            replies.append(running.send("/api/predict/sst", LONG, Host="elmo"))
        children = [pid for pid, (parent, *_) in processes().items() if parent == own]
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0
        assert {reply.status for reply in replies} == {200}
        assert len({reply.body for reply in replies}) == 1
        assert len(children) >= 2
        assert not any(map(is_alive, children))


def test_sigterm_waits_for_answers_but_not_for_silent_clients() -> None:
    replies: list[int] = []
    with serving(ARCHIVES / "ner.tar.gz") as running:
        silent = socket.create_connection(("127.0.0.1", running.port))
        silent.sendall(b"GET /")

        def target() -> None:
            replies.append(running.send("/api/predict/ner", LONG).status)

        threads = [threading.Thread(target=target) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)  # all are connected, the first is computed
        running.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        assert running.process.wait(60) == 0
        silent.close()
        running.errors.seek(0)
        assert "Traceback" not in running.errors.read()
    assert replies == [200] * 3


def test_used_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            InputError, match=f"cannot listen on 127.0.0.1, port {port}: .*in use"
        ):
            elmo_tasks("serve", "--port", port, SST)


def test_two_archives_of_one_name() -> None:
    with pytest.raises(
        InputError, match="a different name for each archive, got 'sst' twice"
    ):
        elmo_tasks("serve", "--port", 0, SST, SST)
    with pytest.raises(InputError, match="without braces for the model, got 'a{b'"):
        elmo_tasks("serve", "--port", 0, f"a{{b={SST}")
