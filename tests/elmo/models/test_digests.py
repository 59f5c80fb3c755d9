"""What is read of a model is what is digested, and what is copied."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.layers import Layers, opened_models
from elmo_tasks.elmo.models.files import files_of
from elmo_tasks.elmo.models.record import record_models
from elmo_tasks.elmo.sources.types import SOURCES, SourceSettings, register_source
from elmo_tasks.errors import InputError
from tests.elmo.manylangs.make import HERE as MANYLANGS
from tests.elmo.samples import SENTENCES, random_bilm, write_bilm
from tests.elmo.sources.cove_samples import write_cove
from tests.elmo.sources.transformer_samples import write_transformer

OWN = "tests_numbers"

if OWN not in SOURCES:

    @register_source(OWN, files={"model": "a folder with seeds"})
    def _open_own(model: Path) -> Any:
        numbers = [int(path.read_text()) for path in model.rglob("number.txt")]
        return random_bilm(sum(numbers))


def official(folder: Path) -> dict[str, str]:
    write_bilm(folder)
    return {"model": str(folder)}


def in_safetensors(folder: Path) -> dict[str, str]:
    random_bilm().save_files(folder / "config.json", folder / "model.safetensors")
    return {"model": str(folder)}


def bert(folder: Path) -> dict[str, str]:
    return {"model": write_transformer(folder)}


def in_shards(folder: Path) -> dict[str, str]:
    """In parts that the index names."""
    write_transformer(folder)
    model = transformers.AutoModel.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="10KB")
    return {"model": str(folder)}


def of_sentences(folder: Path) -> dict[str, str]:
    """A sentence transformer, with a list of words in place of `tokenizer.json`."""
    write_transformer(folder)
    pieces = transformers.AutoTokenizer.from_pretrained(folder).get_vocab()
    (folder / "vocab.txt").write_text("\n".join(sorted(pieces, key=pieces.__getitem__)))
    (folder / "tokenizer.json").unlink()
    for name in ("modules.json", "config_sentence_transformers.json"):
        (folder / name).write_text("[]")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text("{}")
    return {"model": str(folder)}


def many_languages(folder: Path) -> dict[str, str]:
    """With a configuration whose name only `config.json` tells."""
    shutil.copytree(MANYLANGS / "both", folder, dirs_exist_ok=True)
    (folder / "sizes.json").rename(folder / "other.json")
    (folder / "config.json").write_text('{"config_path": "../configs/other.json"}')
    return {"model": str(folder)}


def cove(folder: Path) -> dict[str, str]:
    vectors_file, weight_file = write_cove(folder)
    files = {"vectors_file": vectors_file, "weight_file": weight_file}
    return {"source": "cove", **files}


def own(folder: Path) -> dict[str, str]:
    for name in ("number.txt", "below/number.txt", "below/README.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("1")
    return {"source": OWN, "model": str(folder)}


MODELS = (official, in_safetensors, bert, in_shards, of_sentences, many_languages)
OTHERS = (cove, own)


def digests(settings: dict[str, str]) -> Any:
    try:
        return files_of(SourceSettings.of(settings)).sha256
    except InputError:  # the file is needed
        return None


def layers_of(settings: dict[str, str], **options: Any) -> Tensor:
    layers = Layers.open(SourceSettings.of(settings), **options)
    return layers.of_words(SENTENCES[:2]).layers


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_a_byte_of_any_file_that_is_opened_changes_the_digest(tmp_path: Path) -> None:
    """Files are opened by Python, by HDF5, and by Rust; the system sees all."""
    given = {}
    for write in MODELS + OTHERS:
        (tmp_path / write.__name__).mkdir()
        given[write.__name__] = write(tmp_path / write.__name__)
        (tmp_path / write.__name__ / "notes.txt").write_text("not read")
    script = (
        "import json, sys\nfrom tests.elmo.models.test_digests import layers_of\n"
        "for settings in json.loads(sys.argv[1]): layers_of(settings)"
    )
    trace = tmp_path / "trace"
    command = ["strace", "-f", "--seccomp-bpf", "-y", "-e", "trace=open,openat", "-o"]
    command += [str(trace), sys.executable, "-c", script]
    command.append(json.dumps(list(given.values())))
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": os.getcwd()})
    opened = set()
    for line in trace.read_text().splitlines():
        if f"<{tmp_path}/" in line:
            path = Path(line.rpartition("<")[2].partition(">")[0])
            if path.is_file():
                opened.add(path)
    for name, settings in given.items():
        before = digests(settings)
        files = [path for path in opened if tmp_path / name in path.parents]
        assert len(files) > 1, name
        for path in files:
            content = path.read_bytes()
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
            assert digests(settings) != before, path
            path.write_bytes(content)
        assert digests(settings) == before


@pytest.mark.parametrize("write", [*MODELS, own])
def test_a_copy_is_the_same_model(write: Any, tmp_path: Path) -> None:
    """Saved, or stored with what is trained on it."""
    (tmp_path / "model").mkdir()
    settings = write(tmp_path / "model")
    layers = Layers.open(SourceSettings.of({**settings, "archive": True}))
    expected = layers.of_words(SENTENCES[:2]).layers
    Elmo(layers).save_pretrained(tmp_path / "saved")
    record_models(tmp_path, opened_models(layers))
    for name in layers.opened_files().members():
        assert (tmp_path / "saved" / name).is_file()
    shutil.rmtree(tmp_path / "model")
    copy = {**settings, "model": str(tmp_path / "saved")}
    assert torch.equal(layers_of(copy), expected)
    assert torch.equal(layers_of(settings, run_folder=str(tmp_path)), expected)


def test_the_code_of_ones_own_source_is_part_of_the_cache(tmp_path: Path) -> None:
    """Else a changed module would get the layers of the one before."""
    cache = tmp_path / "cache"
    module = tmp_path / "tests_changing.py"
    (tmp_path / "model").write_text("")
    found = []
    for seed in (1, 2):
        text = "from tests.elmo.samples import random_bilm\n"
        module.write_text(f"{text}def load(model):\n    return random_bilm({seed})\n")
        names: dict[str, Any] = {"__name__": "tests_changing"}
        exec(compile(module.read_text(), module, "exec"), names)
        register_source("tests_changing", files={"model": "any"})(names["load"])
        settings = {"source": "tests_changing", "model": str(tmp_path / "model")}
        found.append(layers_of(settings, cache_dir=cache))
        del SOURCES["tests_changing"]
    assert not torch.allclose(*found, atol=0.1)
