"""`allennlp elmo`: what the user types, reads and gets."""

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from allennlp.commands import main

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.weights import file_sha256
from elmo_tasks.commands.elmo import tokens_of_json
from elmo_tasks.elmo import ElmoVectors
from elmo_tasks.errors import InputError
from elmo_tasks.settings import fixtures_root
from tests.elmo.samples import write_bilm
from tests.pretraining import toy

ROOT = Path(__file__).resolve().parents[2]
TEXT = "The harbour froze over.\n\none two three four five six\n"


@pytest.fixture
def bilm(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "bilm").mkdir()
    options_file, weight_file = write_bilm(tmp_path / "bilm")
    return "--options-file", options_file, "--weight-file", weight_file


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_text(TEXT)
    return tmp_path / "in.txt"


def elmo(*arguments: object) -> None:
    with toy.own_terminal("elmo", *map(str, arguments)):
        main(prog="allennlp")


def test_what_is_told_and_written(
    bilm: tuple[str, ...], text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.hdf5"
    elmo(text, out, *bilm, "--max-length", 4, "--overlap", 2)
    told = capsys.readouterr().out.splitlines()
    assert told[:3] == [
        "3 sentences, 10 tokens",
        "1 lines have no tokens: their datasets are empty",
        "1 lines of more than 4 tokens are split into overlapping windows",
    ]
    assert told[3] == f"{out}: {out.stat().st_size:,} bytes"
    with ElmoVectors(out) as vectors:
        assert [vectors.tokens(index) for index in range(3)] == [line.split() for line in TEXT.splitlines()]
        wanted = {"weights_sha256": file_sha256(bilm[3]), "options_sha256": file_sha256(bilm[1])}
        wanted |= {"text_sha256": file_sha256(text), "tokenizer": "white space", "input": str(text)}
        assert {key: vectors.info[key] for key in wanted} == wanted
    elmo(text, out, *bilm, "--max-length", 4, "--overlap", 2)
    assert capsys.readouterr().out == f"{out} is already complete\n"


def test_flags_of_allennlp(bilm: tuple[str, ...], text: Path, tmp_path: Path) -> None:
    shapes = {"--all": (3, 4, 12), "--top": (4, 12), "--average": (4, 12)}
    for flag, shape in shapes.items():
        elmo(text, tmp_path / flag, *bilm, flag, "--float16", "--batch-size", 1, "--cuda-device", -1)
        array = ElmoVectors(tmp_path / flag)[0]
        assert (array.shape, array.dtype) == (shape, np.float16)


def test_raw_text_json_and_gzip(bilm: tuple[str, ...], tmp_path: Path) -> None:
    lines = {"text": "He can't.", "json": '["New York", "can\'t"]', "tokens": "He can't."}
    wanted = {"text": ["He", "ca", "n't", "."], "json": ["New York", "can't"], "tokens": ["He", "can't."]}
    for name, line in lines.items():
        (tmp_path / name).write_bytes(gzip.compress(line.encode()))
        elmo(tmp_path / name, tmp_path / f"{name}.hdf5", *bilm, "--input-format", name)
        assert ElmoVectors(tmp_path / f"{name}.hdf5").tokens(0) == wanted[name]


def test_the_embedded_bilm_is_the_default(text: Path, tmp_path: Path) -> None:
    elmo(text, tmp_path / "out", "--top")
    folder = fixtures_root() / "bilm"
    embedded = BiLM.from_files(folder / "options.json", folder / "weights.hdf5")
    wanted = embedded(batch_to_ids([TEXT.split("\n")[0].split()])).layers[-1, 0].numpy()
    assert np.allclose(ElmoVectors(tmp_path / "out")[0], wanted, atol=1e-6)


def test_faults_are_told_with_their_line(bilm: tuple[str, ...], tmp_path: Path) -> None:
    for content, options, message in (
        (b"one\n\xff\n", (), ":2: expected UTF-8 text"),
        (b'["a"]\n"a b"\n', ("--input-format", "json"), ":2: expected a JSON list of tokens, got"),
        (b'["a"]\n["a\\u0000b"]\n', ("--input-format", "json"), ":2: HDF5 cannot store a token with a NUL"),
        (b'["a"]\n["\\ud800"]\n', ("--input-format", "json"), ":2: expected a JSON list of tokens, got"),
        (b"", (), "expected at least one sentence, got none"),
    ):
        (tmp_path / "in").write_bytes(content)
        with pytest.raises(InputError, match=message):
            elmo(tmp_path / "in", tmp_path / "out", *bilm, *options)
        assert sorted(os.listdir(tmp_path)) == ["bilm", "in"]


def test_wrong_arguments(bilm: tuple[str, ...], text: Path, tmp_path: Path) -> None:
    part = tmp_path / "in.part"
    part.write_text(TEXT)
    (tmp_path / "begun.part").mkdir()
    for arguments, message in (
        ((text, tmp_path / "out", *bilm[:2]), "expected both --options-file and --weight-file"),
        (
            (text, tmp_path / "out", *bilm, "--cuda-device", 99),
            "--cuda-device 99: there are [0-9]+ GPUs, counted from 0",
        ),
        ((text, tmp_path / "out", *bilm, "--cuda-device", -7), "--cuda-device -7: .*; -1 is the CPU$"),
        ((text, text, *bilm, "--force"), "in.txt: the output would overwrite an input file"),
        ((text, bilm[3], *bilm, "--force"), "weights.hdf5: the output would overwrite an input file"),
        ((part, tmp_path / "in", *bilm, "--force"), "in.part: the output would overwrite an input file"),
        ((text, tmp_path, *bilm), f"{tmp_path}: expected a file, got a folder"),
        ((text, "", *bilm), "expected a file name"),
        ((text, "/dev/null", *bilm, "--force"), "/dev/null: expected a file, got"),
        ((text, text / "out", *bilm), "in.txt: expected a writable folder"),
        ((text, part, *bilm), "in.part: expected a file name that does not end in .part"),
        ((text, tmp_path / "begun", *bilm), "begun.part: expected a file, got a folder"),
        ((text, tmp_path / "begun", *bilm, "--force"), "begun.part: expected a file, got a folder"),
        ((tmp_path / "gone", tmp_path / "out", *bilm), "gone: no such file"),
        (
            (text, tmp_path / "out", *bilm, "--overlap", 300),
            "overlap: expected a number from 0 to half of max_length",
        ),
    ):
        with pytest.raises(InputError, match=message):
            elmo(*arguments)
    assert (text.read_text(), part.read_text(), sorted(os.listdir(tmp_path))) == (
        TEXT,
        TEXT,
        ["begun.part", "bilm", "in.part", "in.txt"],
    )


@pytest.mark.parametrize(("line", "tokens"), [('["a", "b c"]', ["a", "b c"]), ("[]", []), (" ", [])])
def test_tokens_of_json(line: str, tokens: list[str]) -> None:
    assert tokens_of_json(line) == tokens


@pytest.mark.parametrize("line", ["[", "1", '{"words": []}', '[""]', '["a", 1]', "{}"])
def test_json_that_is_no_tokens(line: str) -> None:
    with pytest.raises(InputError, match="expected a JSON list of tokens, got"):
        tokens_of_json(line)


def test_a_pipe_that_is_killed(bilm: tuple[str, ...], tmp_path: Path) -> None:
    """A process that is really killed while it writes; what comes from a pipe is written to the end afterwards."""
    text = "".join(f"{'word ' * (number % 30)}{number}\n" for number in range(300)).encode()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    (tmp_path / "in").write_bytes(text)

    def start(out: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "allennlp", "elmo", "-", str(out), *bilm, "--batch-size", "8"]
        with (tmp_path / "in").open("rb") as pipe:
            return subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=subprocess.DEVNULL)

    process = start(tmp_path / "out")
    part = tmp_path / "out.part"
    while process.poll() is None and not part.exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    elmo(tmp_path / "in", tmp_path / "whole", *bilm, "--batch-size", 8)
    elmo(tmp_path / "in", tmp_path / "out", *bilm, "--batch-size", 8)
    one, other = ElmoVectors(tmp_path / "out"), ElmoVectors(tmp_path / "whole")
    assert (len(one), one.info["input"]) == (300, "-")
    assert all(np.array_equal(*pair) for pair in zip(one, other, strict=True))
