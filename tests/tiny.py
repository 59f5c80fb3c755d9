"""Small random biLMs, vectors and data roots."""

import gzip
import json
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest
from allennlp.common import Params
from allennlp.common.params import evaluate_file
from allennlp.data import Vocabulary

from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.resources import DATA_VARIABLE
from elmo_tasks.tasks import TASKS
from elmo_tasks.training.config import read_config
from tests.elmo.samples import options, write_bilm
from tests.pretraining import toy

ELMO_DIM = 2 * options().projection_dim
"""The size of an ELMo vector of `bilm_files`."""

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "fixtures"
REAL_DATA = Path(
    os.environ.get("ELMO_TASKS_REAL_DATA", ROOT.parent / "shared" / "data")
)
"""Real corpora; tests that need a missing one are skipped."""

SAMPLES = {name: FIXTURES / task.sample for name, task in TASKS.items()}
"""A small file in the official format of each task."""

SIZES = {
    "embedding_dim": 3,
    "hidden_size": 5,
    "hidden_sizes": 4,
    "num_filters": 5,
    "feedforward_size": 5,
}
SIZES |= {"feature_size": 3, "max_span_width": 4, "num_layers": 2}


def tiny_model(task: str) -> dict[str, Any]:
    """
    The model of the config at `mini`, with the smallest sizes, learned word vectors and
    without an initializer.
    """
    model: dict[str, Any] = json.loads(_mini_model(task))
    words = {"type": "elmo_tasks_word_vectors", "embedding_dim": SIZES["embedding_dim"]}
    model["text_field_embedder"]["token_embedders"]["tokens"] = words
    model.pop("initializer", None)
    return _shrunk(model)


@cache
def _mini_model(task: str) -> str:
    config = read_config(ROOT / f"training_config/{task}.jsonnet")
    return json.dumps(config["model"].as_dict(quiet=True))


def _shrunk(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _shrunk(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [_shrunk(part, key) for part in value]
    if key in SIZES:
        return min(value, SIZES[key])
    return value


def bilm_files(folder: Path, **changes: Any) -> dict[str, str]:
    """
    Writes a random biLM in the official format; returns the two keys for a config.
    """
    folder.mkdir(parents=True, exist_ok=True)
    options_file, weight_file = write_bilm(folder, **changes)
    return {"options_file": options_file, "weight_file": weight_file}


def elmo(folder: Path, **keys: object) -> ElmoTokenEmbedder:
    """An embedder, built from a config."""
    return ElmoTokenEmbedder.from_params(
        Params({**bilm_files(folder), **keys}), vocab=Vocabulary()
    )


def write_vectors(file: Path, words: list[str], *, width: int) -> Path:
    """Writes random vectors of these words, compressed if the name ends in `.gz`."""
    generator = numpy.random.default_rng(3)
    lines = []
    for word in words:
        numbers = [f"{value:.4f}" for value in generator.normal(size=width)]
        lines.append(f"{word} {' '.join(numbers)}\n")
    content = "".join(lines).encode()
    if file.suffix == ".gz":
        content = gzip.compress(content)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


@cache
def places_of_samples() -> list[tuple[Path, Path]]:
    """
    The sample of each task, and where below a data root its config reads it, for each
    split. Jsonnet takes half a second for all of them.
    """
    found = []
    for task, sample in SAMPLES.items():
        file = ROOT / f"training_config/paper/{task}.jsonnet"
        if not file.exists():
            file = ROOT / f"training_config/{task}.jsonnet"
        variables = {DATA_VARIABLE: str(ROOT)}
        config = json.loads(evaluate_file(str(file), ext_vars=variables))
        for split in ("train", "validation"):
            place = Path(config[f"{split}_data_path"]).relative_to(ROOT)
            if not place.suffix:
                place = place / sample.name
            found.append((sample, place))
    return found


def write_data_root(root: Path) -> Path:
    """
    Writes a few sentences to each of the files that configs read, and the configs,
    which read them at any scale, to `training_config`.
    """
    toy.write_corpus(root)
    words = "<S>\n</S>\n<UNK>\nthe\ncook\nbakes\n.\n"
    (root / "lm" / "vocab-2016-09-10.txt").write_text(words)
    for sample, place in places_of_samples():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(sample, root / place)
    widths = {
        "w2v.100d.txt.gz": 100,
        "glove.6B.50d.txt": 50,
        "glove.6B.100d.txt": 100,
        "glove.840B.300d.txt": 300,
    }
    widths["turian.50d.txt"] = 50
    for name, width in widths.items():
        write_vectors(
            root / "vectors" / name,
            ["the", "left", "Harrow", "ferry", "mira"],
            width=width,
        )
    bilm_files(root / "bilm")
    (root / "bilm" / "vocabulary.txt").write_text(words)
    return root


def contents(folder: Path) -> dict[str, bytes | None]:
    """The bytes of each file below a folder, and `None` for each folder."""
    found = {}
    for path in folder.rglob("*"):
        content = path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = content
    return found


@contextmanager
def heard(caplog: pytest.LogCaptureFixture, name: str) -> Iterator[None]:
    """`caplog` for a logger, even if AllenNLP has reconfigured the root logger."""
    logger = logging.getLogger(name)
    logger.addHandler(caplog.handler)
    with caplog.at_level(logging.INFO, logger=name):
        yield
    logger.removeHandler(caplog.handler)
