"""
Each value that the reference of configs lists (`true`, `false`, `null`, a name) trains,
or is one error before the folder of the run is made.
"""

import copy
import inspect
import json
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import pytest
import torch
from allennlp.common import Params
from allennlp.common.from_params import infer_params
from allennlp.data import BatchSampler, DataLoader, DatasetReader, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2SeqEncoder, Seq2VecEncoder, TokenEmbedder
from allennlp.training import Trainer
from allennlp.training.learning_rate_schedulers import LearningRateScheduler

from elmo_tasks.errors import InputError
from elmo_tasks.nn.elmo_embedder import SETTINGS
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.settings import annotations
from elmo_tasks.tasks import TASKS
from elmo_tasks.tasks.task_model import TaskModel
from elmo_tasks.training.config import read_config
from elmo_tasks.training.run import train
from tests.pretraining import toy
from tests.tiny import ROOT, SIZES, write_data_root

pytestmark = pytest.mark.slow

BASES: tuple[Any, ...] = (
    *(Model, DatasetReader, TokenEmbedder, Seq2SeqEncoder, Seq2VecEncoder),
    *(DataLoader, BatchSampler, Vocabulary, Trainer, LearningRateScheduler),
)
OF_ALLENNLP = {
    *("serialization_dir", "local_rank", "world_size", "distributed"),
    *("ddp_accelerator", "ddp_wrapped_model", "vocab"),
}
"""Arguments that AllenNLP passes, which no config sets."""

CONFIGS = [*(f"{task}_elmo" for task in TASKS), "bilm", "bilm_finetune"]
SMALL: dict[str, Any] = {"trainer.num_epochs": 1}
OF_CONFIG: dict[str, dict[str, Any]] = {
    "bilm": toy.overrides() | {"trainer.num_epochs": 1},
    "bilm_finetune": {"model.negatives": None, "data_loader.batch_size": 2},
}
SHARE = {"type": "elmo_tasks_share", "batch_size": 2, "num_workers": 1}
ELSEWHERE: dict[str, tuple[str, str, Any]] = {
    "elmo_tasks_share": ("sst_elmo", "data_loader", SHARE),
    "elmo_tasks_gru": (
        "sst_elmo",
        "model.encoder",
        {"type": "elmo_tasks_gru", "hidden_size": 4},
    ),
    "reduce_on_plateau": (
        "sst_elmo",
        "trainer.learning_rate_scheduler",
        {"type": "reduce_on_plateau"},
    ),
}
"""Classes that no config of ours has: a place for them, and what stands there."""

NOT_HERE = {
    "from_archive": "needs an archive: tests/archives/test_tuned_model.py",
    "from_files": "needs a vocabulary: tests/archives/test_tuned_model.py",
    "elmo_tasks_largest_batch": "wraps another loader",
    "elmo_tasks": "model.elmo, below; a trainer",
}


class Case(NamedTuple):
    """A value of a key, in a config whose other keys are as they are."""

    config: str
    path: tuple[str | int, ...]
    value: Any

    def __str__(self) -> str:
        path = ".".join(map(str, self.path))
        return f"{self.config}-{path}-{json.dumps(self.value)}"


def values_of(annotation: Any) -> list[Any]:
    """The names, booleans and null that an annotation allows."""
    origin = get_origin(annotation)
    if annotation is bool:
        return [True, False]
    if annotation is type(None):
        return [None]
    if origin is Literal:
        return list(get_args(annotation))
    if origin is Annotated:
        return values_of(get_args(annotation)[0])
    found = []
    if origin in (Union, types.UnionType):
        for part in get_args(annotation):
            found += values_of(part)
    return found


def parameters_of(cls: Any, constructor: Any) -> dict[str, inspect.Parameter]:
    """The arguments of a class, with those that a config gives to the parts of it."""
    found = dict(infer_params(cls, constructor))
    if isinstance(cls, type) and issubclass(cls, TaskModel):
        found |= infer_params(InputEncoder, InputEncoder.__init__)
    return found


def keys_of(cls: Any, constructor: Any) -> dict[str, list[Any]]:
    """The documented keys of a class that have such values, without the default."""
    page = (ROOT / "docs" / "reference-configs.md").read_text("utf-8")
    found = {}
    for name, parameter in parameters_of(cls, constructor).items():
        values = []
        for value in values_of(parameter.annotation):
            is_default = value == parameter.default
            if not is_default or type(value) is not type(parameter.default):
                values.append(value)
        if values and name not in OF_ALLENNLP and f"`{name}`" in page:
            found[name] = values
    return found


def places_of(value: Any, name: str, path: tuple[Any, ...] = ()) -> Iterator[Any]:
    """The paths of the objects of a config with this `type`."""
    if isinstance(value, dict):
        if value.get("type") == name:
            yield path
        for key, part in value.items():
            yield from places_of(part, name, (*path, key))
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from places_of(part, name, (*path, index))


def is_place_of(base: Any, path: tuple[Any, ...]) -> bool:
    """A model and a reader have the same name."""
    tops = {Model: "model", DatasetReader: "dataset_reader", Trainer: "trainer"}
    return bool(path) and (base not in tops or path[0] == tops[base])


@cache
def paper_config(name: str) -> Any:
    """A config as it stands in `mini`, for the places of its classes."""
    from elmo_tasks.resources import configs_root

    file = configs_root() / f"{name}.jsonnet"
    return read_config(file).as_dict(quiet=True)


def place_of(base: Any, name: str) -> tuple[str, tuple[Any, ...]] | None:
    if name in ELSEWHERE:
        config, path, _ = ELSEWHERE[name]
        return config, tuple(path.split("."))
    for config in CONFIGS:
        for path in places_of(paper_config(config), name):
            if is_place_of(base, path):
                return config, path
    return None


def part_of(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        if isinstance(value, dict) and key not in value:
            return {}
        value = value[key]
    return value


def cases() -> Iterator[Case]:
    """
    Each value that a config does not have as it stands; keys that several classes share
    are tried once.
    """
    for config in CONFIGS:
        yield Case(config, ("trainer", "num_epochs"), 1)
    seen = set[tuple[Any, str]]()
    for base in BASES:
        for name in base.list_available():
            cls, constructor = base.resolve_class_name(name)
            if not cls.__module__.startswith("elmo_tasks"):
                continue
            keys = keys_of(cls, getattr(cls, constructor or "__init__"))
            found = place_of(base, name)
            if found is None:
                assert name in NOT_HERE or not keys, f"{base.__name__} {name} {keys}"
                continue
            config, path = found
            present = part_of(paper_config(config), path)
            own = inspect.signature(cls.__init__).parameters
            for key, values in keys.items():
                shared = (base, key)
                if key not in own and shared in seen:
                    continue
                seen.add(shared)
                for value in values:
                    if key not in present or present[key] != value:
                        yield Case(config, (*path, key), value)
    for settings in SETTINGS:
        fields = settings.__dataclass_fields__
        for key, annotation in annotations(settings).items():
            for value in values_of(annotation):
                if value != fields[key].default:
                    yield Case("sst_elmo", ("model", "elmo", key), value)


ALL = list(cases())
REJECTED = {
    "coref_elmo-model.text_field_embedder-null": "set head_values to input",
    "tagger_elmo-model.spans-true": "expected a tag such as 'O'",
    "tagger_elmo-model.legal-true": "expected false, or crf and spans",
    "ner_elmo-model.crf-false": "expected false, or crf and spans",
    "ner_elmo-model.spans-false": "expected false, or crf and spans",
    "tagger_elmo-dataset_reader.spans-true": "expected a tag such as 'O'",
    "bilm-data_loader.shuffle-false": "steps_per_epoch: expected null",
    "coref_elmo-trainer.grad_norm-true": "expected a valid number or False",
    'sst_elmo-model.elmo.pieces-"first"': "expected mean where source is bilm",
    'sst_elmo-model.elmo.pieces-"last"': "expected mean where source is bilm",
}
"""
The values that go only with other values or data, by what the error says. AllenNLP
annotates `grad_norm` with true, which the reference does not have.
"""

if not torch.cuda.is_available():
    REJECTED["coref_elmo-trainer.use_amp-true"] = (
        "trainer: ValueError: Using AMP requires a cuda device"
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data_root(tmp_path_factory.mktemp("data"))


def config_of(case: Case, root: Path) -> Any:
    file = root / "training_config" / f"{case.config}.jsonnet"
    overrides = SMALL | OF_CONFIG.get(case.config, {})
    config = smaller(read_config(file, json.dumps(overrides)).as_dict(quiet=True))
    for key, path, value in ELSEWHERE.values():
        if key == case.config and tuple(path.split(".")) == case.path[:-1]:
            config = with_value(config, case.path[:-1], value)
    return with_value(config, case.path, case.value)


def smaller(value: Any, key: str = "") -> Any:
    """A config with small sizes, but for those of the word vectors in files."""
    if isinstance(value, dict):
        return {name: smaller(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [smaller(part, key) for part in value]
    if key in SIZES and key != "embedding_dim":
        return min(value, SIZES[key])
    return value


def with_value(config: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(config)
    part = changed
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = copy.deepcopy(value)
    return changed


@pytest.mark.parametrize("case", ALL, ids=str)
def test_a_documented_value(case: Case, root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    problem = None
    expected = REJECTED.get(str(case))
    with toy.own_terminal():
        try:
            train(Params(config_of(case, root)), folder)
        except InputError as error:
            problem = str(error)
    if expected is None:
        assert problem is None
        assert (folder / "model.tar.gz").is_file()
    else:
        assert expected in str(problem)
        assert not folder.exists()
