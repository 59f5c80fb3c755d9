"""A model's `forward` changes neither weights nor buffers nor vocabulary, and several threads can use one model."""

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.util import sanitize
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.pretraining.data_loader import LmDataLoader, LmReader, LmVocabulary
from elmo_tasks.pretraining.model import BiLMModel
from tests.archives.make import SENTENCE, TASKS
from tests.archives.test_stored import assert_close
from tests.models import make_model, tensors
from tests.pretraining import toy
from tests.tagging import test_tagging as tagging
from tests.tiny import write_vectors

TAGGER: dict[str, Any] = {
    "type": "elmo_tasks_tagger",
    "text_field_embedder": {
        "token_embedders": {
            "tokens": {"type": "elmo_tasks_word_vectors", "embedding_dim": 4},
            "token_characters": {
                "type": "character_encoding",
                "embedding": {"embedding_dim": 3, "vocab_namespace": "token_characters"},
                "encoder": {"type": "cnn", "embedding_dim": 3, "num_filters": 5, "ngram_filter_sizes": [3]},
            },
        }
    },
    "encoder": {"type": "elmo_tasks_stacked_lstm", "hidden_sizes": [3]},
}

WORD = re.compile(r"\b[a-z]{4,}\b")


def inputs(task: str) -> list[Any]:
    """Inputs with words that no data have; every second one has vectors in the file."""
    given = SENTENCE if task == "tagger" else TASKS[task][2]
    return [given, *(_renamed(given, number) for number in range(8))]


def _renamed(value: Any, number: int) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(part, number) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, number) for part in value]
    return WORD.sub(rf"\g<0>{number}", value)


def predictor(task: str, folder: Path) -> tuple[Predictor, list[Instance]]:
    """A random model as from an archive, which looks words up in a file, and its training data."""
    if task == "tagger":
        model, data = TAGGER, folder / "tags"
        data.write_text(tagging.COLUMNS)
    else:
        model, data = TASKS[task][:2]
    keys: dict[str, Any] = deepcopy(model)
    words = set(re.findall(r"\w+", str(inputs(task)[:1] + inputs(task)[1::2])))
    part = keys["text_field_embedder"]["token_embedders"]["tokens"]
    part["lookup_file"] = str(write_vectors(folder / "vectors", sorted(words), width=part["embedding_dim"]))
    columns = {"tag": 1} if task == "tagger" else {}
    reader = DatasetReader.from_params(Params({"type": f"elmo_tasks_{task}", **columns}))
    instances = list(reader.read(data))
    built = make_model(keys, instances, folder, {"at": "both"})
    return Predictor.by_name(f"elmo_tasks_{task}")(built, reader), instances


def state(model: Model) -> dict[str, Any]:
    """A copy of everything that a call must not change."""
    frozen = [module.source for module in model.modules() if isinstance(module, ElmoTokenEmbedder)]
    found: dict[str, Any] = deepcopy(dict(model.vocab._token_to_index))
    for number, module in enumerate([model, *frozen]):
        tensors = {**module.state_dict(), **dict(module.named_buffers())}
        found |= {f"{number}.{name}": deepcopy(value) for name, value in tensors.items()}
    return found


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        same = torch.equal(found[name], value) if isinstance(value, torch.Tensor) else found[name] == value
        assert same, name


@pytest.mark.parametrize("task", [*TASKS, "tagger"])
def test_calls_change_no_state(task: str, tmp_path: Path) -> None:
    used, instances = predictor(task, tmp_path)
    model = used._model
    batch = tensors(model.vocab, instances)
    before = state(model)
    model.train()(**batch)["loss"].backward()
    assert_same(state(model), before)
    model.eval()(**batch)
    outputs = used.predict_batch_json(inputs(task))
    assert len(outputs) == len(inputs(task))
    assert_same(state(model), before)


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Threads take turns so often that races show."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("quick_switches")
@pytest.mark.parametrize("task", [*TASKS, "tagger"])
def test_threads_give_the_sequential_results(task: str, tmp_path: Path) -> None:
    used, _ = predictor(task, tmp_path)

    def predicted(one: Predictor, order: int) -> list[Any]:
        return sanitize([one.predict_json(given) for given in inputs(task)[::order]])[::order]

    expected = predicted(deepcopy(used), 1)
    with ThreadPoolExecutor(2) as pool:
        threads = [pool.submit(predicted, used, order) for order in (1, -1)]
        assert_close([thread.result() for thread in threads], [expected, expected], atol=1e-6)


def batches(corpus: Path, *, seed: int = 0) -> LmDataLoader:
    loader = LmDataLoader(LmReader(), str(corpus / "lm" / "train.a.txt"), 3, unroll=4, steps_per_epoch=3, seed=seed)
    loader.index_with(LmVocabulary.from_corpus(files=str(corpus / "lm" / "train.a.txt")))
    return loader


@pytest.mark.usefixtures("quick_switches")
def test_the_language_model(tmp_path: Path) -> None:
    corpus = toy.write_corpus(tmp_path)
    model = BiLMModel(LmVocabulary.of(batches(corpus)._words), toy.OPTIONS, negatives=4)  # type: ignore[arg-type]
    before = state(model)
    for batch in batches(corpus):
        model.train()(**batch)["loss"].backward()
    model.eval()

    def losses(seed: int) -> list[float]:
        return [model(**batch)["loss"].item() for batch in batches(corpus, seed=seed)]

    expected = [losses(seed) for seed in range(2)]
    assert_same(state(model), before)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(losses, range(2))) == expected
