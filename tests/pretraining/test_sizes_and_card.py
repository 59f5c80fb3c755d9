"""The suggested configuration trains, and follows the corpus; a shared folder has a card and works by its URL."""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.locations import local_path
from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining import sizes as plan
from elmo_tasks.pretraining.export import check_card, export_run, load_trained, write_card
from elmo_tasks.pretraining.sizes import choose_training, sample_corpus, write_config
from elmo_tasks.resources import configs_root
from tests.pretraining import toy

WORDS = sorted({word for line in toy.sentences(100, seed=1) for word in line.split()})


def test_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "VOCABULARIES", (5, 10, 100))
    lines = ["a b c d e f g h i j", "a b c d e f g h i " + "k" * 60] * 500
    (tmp_path / "x.txt").write_text("\n".join(lines))
    whole = sample_corpus([tmp_path / "x.txt"])
    assert (whole.tokens, whole.types, whole.characters) == (10_000, 11, 62)
    assert whole.truncated == pytest.approx(0.05, abs=0.02)
    assert whole.unknown == {5: 0.5, 10: 0.1, 100: 0.0}, "of every tenth line, none of which has the long word"
    assert len(whole.vocabulary) == 3 + 11
    for text in ("", "each word once"):
        (tmp_path / "y.txt").write_text(text)
        with pytest.raises(InputError, match=r"y.txt: expected (text|words)"):
            sample_corpus([tmp_path / "y.txt"])
    part = sample_corpus([tmp_path / "x.txt"], words=2_000)
    assert len(part.lines) < 300 and part.tokens == pytest.approx(10_000, rel=0.3)


def test_more_hours_allow_a_larger_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.txt").write_text("\n".join(toy.sentences(5000, seed=1)))
    sample = sample_corpus([tmp_path / "x.txt"])
    monkeypatch.setattr(plan, "_tokens_per_second", lambda sample, options, precision: 4e9 / options.n_parameters)
    monkeypatch.setattr(plan, "_MOST_PASSES", 10**6)
    dims = [choose_training(sample, hours=hours).options.dim for hours in (0.001, 2.0, 200.0)]
    assert dims[0] == 256 and dims == sorted(dims) and len(set(dims)) == 3
    with pytest.raises(InputError, match="positive number of hours, got 0"):
        choose_training(sample, hours=0)


def test_the_config_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = toy.write_corpus(tmp_path / "data")
    monkeypatch.setattr(plan, "SIZES", (([[1, 4]], 16, 8),))
    files, heldout = [corpus / "lm/train.a.txt"], [corpus / "lm/heldout.a.txt"]
    files[0].write_text(files[0].read_text().replace("soup", "s" + 69 * "o"))
    fields = choose_training(sample_corpus(files), hours=0.0001).fields(sample_corpus(files), files, heldout)
    fields["trainer"]["num_epochs"] = fields["data_loader"]["steps_per_epoch"] = 1
    write_config(tmp_path / "plan.jsonnet", fields, base=str(configs_root() / "small/bilm.jsonnet"))
    with toy.own_terminal():
        toy.run_command(["train", str(tmp_path / "plan.jsonnet"), "-s", str(tmp_path / "run")])
    trained = load_trained(tmp_path / "run")
    assert (trained.model.bilm.options.dim, trained.model.bilm.options.max_characters_per_token) == (16, 72)
    export_run(tmp_path / "run", tmp_path / "out")
    assert (
        BiLM.from_files(tmp_path / "out/options.json", tmp_path / "out/weights.hdf5").options
        == trained.model.bilm.options
    )


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    toy.fake_run(tmp_path / "run", WORDS)
    points = [{"tokens": 4096, "perplexity": 71.25}, {"tokens": 8192, "perplexity": 80.0}]
    (tmp_path / "run/curve.jsonl").write_text("".join(json.dumps(point) + "\n" for point in points))
    export_run(tmp_path / "run", tmp_path / "out")
    card = {"name": "me/latin", "language": "la", "license": "cc0-1.0", "corpus": "letters"}
    check_card(**card)
    write_card(tmp_path / "out", tmp_path / "run", **card)
    return tmp_path / "out"


def test_card(shared: Path) -> None:
    text = (shared / "README.md").read_text()
    for expected in ("language: la\n", "license: cc0-1.0\n", "letters", "4,096", "71.2", "hf://me/latin/options.json"):
        assert expected in text, expected
    for file in ("options.json", "weights.hdf5", "vocabulary.txt", "softmax.hdf5", "weights.safetensors"):
        assert f"| {file} | `{hashlib.sha256((shared / file).read_bytes()).hexdigest()}` |" in text
    bilm = BiLM.from_files(shared / "options.json", shared / "weights.hdf5").state_dict()
    stored = load_file(shared / "weights.safetensors")
    assert stored.keys() == bilm.keys() and all(torch.equal(stored[name], bilm[name]) for name in bilm)
    with pytest.raises(InputError, match="owner/name, got 'latin'"):
        check_card(name="latin", language="la")
    with pytest.raises(InputError, match="expected license for"):
        check_card(name="me/latin", license=None)


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
