"""`elmo-tasks data`: what is there, official names, downloads from a local server."""

import functools
import hashlib
import io
import threading
import zipfile
from argparse import Namespace
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from elmo_tasks import resources
from elmo_tasks.cli import data
from elmo_tasks.cli.check import check_config
from elmo_tasks.errors import InputError
from elmo_tasks.formats.corpora import DataFile, Download, located
from elmo_tasks.formats.text_files import open_text


class _Handler(BaseHTTPRequestHandler):
    """Serves `content`, with ranges; the first answer breaks off after `broken` bytes."""

    content = b""
    broken: int | None = None

    def do_GET(self) -> None:
        begin = int(self.headers.get("Range", "bytes=0-")[6:-1])
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(self.content) - begin))
        self.end_headers()
        end, type(self).broken = self.broken, None
        self.wfile.write(self.content[begin:end])

    def log_message(self, *_: object) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_interrupted_download_resumes_and_is_unpacked(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 50)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("trees/train.txt", "(3 (2 a) (2 b))\n" * 5000)
        packed.writestr("__MACOSX/trees/train.txt", "resource fork")
    _Handler.content, _Handler.broken = archive.getvalue(), 100
    source = Download(f"{server}/trees.zip", len(_Handler.content), hashlib.sha256(_Handler.content).hexdigest())
    file = DataFile("sst/train.txt", (), "trees", 5000, source)
    with pytest.raises(InputError, match=r"trees\.zip"):
        data.fetch(file.source, [file], tmp_path)
    assert (tmp_path / "downloads/trees.zip.part").stat().st_size == 100
    assert not (tmp_path / "sst").exists()
    data.fetch(file.source, [file], tmp_path)
    assert (tmp_path / "sst/train.txt").read_text() == "(3 (2 a) (2 b))\n" * 5000


def test_wrong_checksum_is_an_error(server: str, tmp_path: Path) -> None:
    _Handler.content = b"something else"
    file = DataFile("squad/dev.json", (), "bytes", 14, Download(f"{server}/dev.json", 14, "0" * 64))
    with pytest.raises(InputError, match="expected sha256 0000"):
        data.fetch(file.source, [file], tmp_path)
    assert not (tmp_path / "squad").exists()


@pytest.mark.parametrize(
    ("unit", "text", "count"),
    [
        ("questions", '{"data": [{"paragraphs": [{"qas": [1, 2]}, {"qas": [3]}]}]}', 3),
        ("pairs", '{"gold_label": "neutral"}\n{"gold_label": "-"}\n', 1),
        ("trees", "(3 (2 a) (2 b))\n\n(2 c)\n", 2),
        ("sentences", "-DOCSTART- -X- O O\n\n#tag NN O O\n\na DT O O\nb NN O O\n", 2),
        ("documents", "#begin document (a); part 000\na\n#end document\n#begin document (a); part 001\n", 2),
    ],
)
def test_units_are_counted(unit: str, text: str, count: int, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    assert data.COUNTERS[unit]([file]) == count


def _touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def test_releases_are_found_under_their_own_names(tmp_path: Path) -> None:
    _touch(
        tmp_path,
        "conll-2012/v4/data/train/data/english/annotations/nw/a.v4_gold_conll",
        "conll-2012/v4/data/train/data/arabic/annotations/nw/b.v4_gold_conll",
        "coref/dev.english.v4_gold_conll",
        "snli/snli_1.0/snli_1.0_dev.jsonl",
        "sst/dev.txt",
        "sst/trees/dev.txt",
        "lm/training-monolingual.tokenized.shuffled/news.en-00001-of-00100",
        "bilm/elmo_2x4096_512_2048cnn_2xhighway_options.json",
        "vectors/turian.50d.txt",
    )
    for name, official in {
        "srl/train": "conll-2012/v4/data/train/data/english",
        "coref/train.gold_conll": "conll-2012/v4/data/train/data/english",
        "coref/dev.gold_conll": "coref/dev.english.v4_gold_conll",
        "snli/snli_1.0_dev.jsonl": "snli/snli_1.0/snli_1.0_dev.jsonl",
        "sst/dev.txt": "sst/dev.txt",
        "sst/train.txt": "sst/train.txt",
        "lm/train.*.txt*": "lm/training-monolingual.tokenized.shuffled/news.en-000[0-9][0-9]-of-00100",
        "bilm/options.json": "bilm/elmo_2x4096_512_2048cnn_2xhighway_options.json",
    }.items():
        assert located(tmp_path / name) == str(tmp_path / official)
    assert located("sst/dev.txt") == "sst/dev.txt"


def test_a_config_reads_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _touch(tmp_path, "snli/snli_1.0/snli_1.0_train.jsonl", "snli_1.0/snli_1.0_dev.jsonl", "vectors/glove.840B.300d.txt")
    monkeypatch.setenv(resources.DATA_VARIABLE, str(tmp_path))
    assert check_config(resources.configs_root() / "paper/snli.jsonnet") == []
    (tmp_path / "snli/snli_1.0/snli_1.0_train.jsonl").write_text("{}")
    assert [line for _, line in open_text(tmp_path / "snli/snli_1.0_train.jsonl")] == ["{}"]


def test_report_names_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst/dev.txt").write_text("(2 a)\n" * 1101)
    (tmp_path / "sst/test.txt").write_text("(2 a)\n")
    (tmp_path / "squad").mkdir()
    (tmp_path / "squad/train-v1.1.json").write_text("{}")
    run = functools.partial(data.report, Namespace(tasks=["sst", "squad"], root=tmp_path, fetch=False))
    with pytest.raises(SystemExit) as ended:
        run()
    lines = capsys.readouterr().out.splitlines()
    assert ended.value.code == 1
    assert "missing  sst/train.txt  from https://nlp.stanford.edu" in lines[2]
    assert lines[3:6] == [
        "  ok       sst/dev.txt  1,101 trees",
        "  differs  sst/test.txt  1 trees, official 2,210",
        "squad",
    ]
    assert lines[6] == "  invalid  squad/train-v1.1.json: no questions can be counted (KeyError: 'data')"
