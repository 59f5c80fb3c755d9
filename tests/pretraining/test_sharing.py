"""An exported folder on the Hugging Face Hub works by its URL."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.locations import local_path
from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import export_run, load_trained
from tests.pretraining import toy

WORDS = sorted({word for line in toy.sentences(100, seed=1) for word in line.split()})


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    toy.fake_run(tmp_path / "run", WORDS)
    export_run(tmp_path / "run", tmp_path / "out")
    return tmp_path / "out"


class Hub(BaseHTTPRequestHandler):
    """Plays the Hugging Face Hub for the files of one folder."""

    folder: Path

    def do_GET(self) -> None:
        _, owner, name, _, revision, file = self.path.split("/")
        content = (self.folder / file).read_bytes()
        self.send_response(200 if (owner, name, revision) == ("me", "latin", "v1") else 404)
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_a_local_hub_then_offline(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("OneHub", (Hub,), {"folder": shared}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    template = f"http://127.0.0.1:{server.server_port}" + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr("huggingface_hub.file_download.HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    url = "hf://me/latin@v1"
    with pytest.raises(InputError, match="cannot fetch hf://me/other/options.json"):
        local_path("hf://me/other/options.json")
    assert load_trained(url).vocabulary.words[3:] == WORDS
    server.shutdown()
    server.server_close()
    assert load_trained(url).vocabulary.words[3:] == WORDS, "offline, after the first time"
    assert Elmo.from_pretrained(url).bilm.output_dim == 24
    options = hashlib.sha256((shared / "options.json").read_bytes()).hexdigest()
    assert BiLM.from_files(f"{url}/options.json#sha256={options}", f"{url}/weights.hdf5").output_dim == 24
    for digest, problem in (("0" * 64, "expected sha256=0+, got"), ("00", "64 hexadecimal"), ("", "64 hexadecimal")):
        with pytest.raises(InputError, match=problem):
            local_path(f"{url}/options.json#sha256={digest}")
    with pytest.raises(InputError, match="cannot fetch hf://latin: expected hf://owner/name/file"):
        local_path("hf://latin")
