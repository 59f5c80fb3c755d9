"""
What `check` accepts can be constructed, and makes a step; other configs are one
problem.
"""

import copy
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model, SimpleTagger

from elmo_tasks.cli.check import check_config
from elmo_tasks.errors import InputError
from elmo_tasks.training.checks.construct import config_problems
from elmo_tasks.training.checks.files import files_named, input_names
from elmo_tasks.training.config import read_config
from tests.archives.test_other_models import tagger
from tests.checks.places import Place, changed, places
from tests.checks.test_training import run
from tests.tiny import SAMPLES

NAMES = ("ner_elmo", "snli_elmo", "squad_elmo", "coref", "bilm")

VALUES = (None, "x", "", 0, -1, 10**9, [], [None], {}, True)

EVERY = 1 if "FUZZ_COUNT" in os.environ else 40
"""Of the changed configs, one in so many is tried."""

EMBEDDING = "model.text_field_embedder.token_embedders.token_characters.embedding"

HOGS = {
    (f"{EMBEDDING}.embedding_dim", 10**9),
    ("data_loader.batch_size", 10**9),
    ("data_loader.unroll", 10**9),
    ("validation_data_loader.batch_size", 10**9),
    ("validation_data_loader.unroll", 10**9),
}
"""
A loader of text fills the memory with so many rows, or so long ones; `check` does not
judge a model that is too large.
"""


def changes(config: dict[str, Any]) -> Iterator[tuple[Place, Any]]:
    for place, value in places(config):
        for other in VALUES:
            is_same = type(other) is type(value) and other == value
            path = ".".join(map(str, place))
            if not is_same and (path, repr(other)) not in {
                (key, repr(big)) for key, big in HOGS
            }:
                yield place, other


def make_steps(config: dict[str, Any], folder: Path) -> None:
    """The training of a config, up to a batch of training and one of validation."""
    config = copy.deepcopy(config)
    for key in ("evaluation", "include_in_archive", "distributed"):
        config.pop(key, None)
    config.pop("type", None)
    built = TrainModel.from_params(
        params=Params(config), serialization_dir=str(folder), local_rank=0
    )
    trainer = built.trainer
    batch = next(iter(trainer.data_loader))
    trainer.batch_outputs(batch, for_training=True)["loss"].backward()
    if trainer._validation_data_loader is not None:
        trainer.model.eval()
        with torch.no_grad():
            batch = next(iter(trainer._validation_data_loader))
            trainer.batch_outputs(batch, for_training=False)


@pytest.mark.parametrize("name", ["a!b.txt", "(a)#b.txt", "a, b.txt", "[a].txt"])
def test_a_path_that_exists_is_no_pattern_nor_member(
    name: str, configs: Path, tmp_path: Path
) -> None:
    """Its content is read, and so are vectors with such a name."""
    config = read_config(configs / "mini" / "sst.jsonnet")
    words = config["model"]["text_field_embedder"]["token_embedders"]["tokens"]
    vectors = tmp_path / f"vectors {name}"
    vectors.write_text("the 1.0 2.0\n")
    words.update(pretrained_file=str(vectors), embedding_dim=2)
    train = tmp_path / name
    train.write_bytes(Path(config["train_data_path"]).read_bytes())
    config["train_data_path"] = str(train)
    assert config_problems(config) == []
    assert str(train) in input_names(config)
    assert files_named(str(train)) == [train]
    train.write_text("no tree\n")
    (problem,) = config_problems(config)
    assert problem.path == "train_data_path"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_accepted_makes_a_step(
    name: str, configs: Path, tmp_path: Path
) -> None:
    file = configs / "mini" / f"{name}.jsonnet"
    config = read_config(file).as_dict(quiet=True)
    found = []
    for number, (place, value) in enumerate(changes(config)):
        if number % EVERY:
            continue
        other = changed(config, place, value)
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(other))
        problems = check_config(path)
        assert not any("\n" in str(problem) for problem in problems)
        if problems:
            continue
        try:
            make_steps(other, tmp_path / str(number))
        except Exception as error:
            found.append((".".join(map(str, place)), value, repr(error)[:200]))
    assert found == []


CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("ner_elmo", {f"{EMBEDDING}.vocab_namespace": "x"}, EMBEDDING, "IndexError: index"),
    ("ner_elmo", {EMBEDDING: {}}, f"{EMBEDDING}.embedding_dim", "requires it"),
    (
        "ner",
        {"model.text_field_embedder": {}},
        "model.text_field_embedder.token_embedders",
        "requires it",
    ),
    (
        "ner",
        {"model.text_field_embedder.token_embedders": {}},
        "model",
        "nothing is left to embed",
    ),
    (
        "ner",
        {"data_loader.batch_sampler.sorting_keys": ["x"]},
        "data_loader.batch_sampler.sorting_keys.0",
        'Sorting key "x" is not a field',
    ),
    (
        "ner",
        {"validation_data_loader.batch_sampler.sorting_keys": ["x"]},
        "validation_data_loader.batch_sampler.sorting_keys.0",
        'Sorting key "x" is not a field',
    ),
    (
        "ner",
        {"dataset_reader.type": "elmo_tasks_sst"},
        "train_data_path",
        "eng.train:1",
    ),
    ("ner", {"train_data_path": [None]}, "train_data_path.0", "got null"),
    ("ner", {"train_data_path": []}, "train_data_path", "a path, got []"),
    (
        "bilm",
        {"validation_data_path": {"type": None}},
        "validation_data_path.type",
        "a path, got null",
    ),
    ("bilm", {"train_data_path": {"a": {"b": [1]}}}, "train_data_path.a.b.0", "got 1"),
    (
        "ner",
        {
            "model.initializer": {"regexes": [["(", {"type": "zero"}]]},
            "model.regularizer": {"regexes": [["input_encoder", {"type": "l2"}]]},
        },
        "model.initializer.regexes.0",
        "missing ), unterminated",
    ),
    (
        "ner_elmo",
        {"trainer.validation_metric": "+f2"},
        "trainer.validation_metric",
        "one of elmo_input_gamma, elmo_input_s0,",
    ),
    (
        "ner",
        {"distributed": {"cuda_devices": []}},
        "distributed.cuda_devices",
        "at least one value",
    ),
    ("ner", {"evaluate_on_test": True}, "evaluate_on_test", "without a test_data_path"),
    ("bilm", {"vocabulary": {}}, "model", "expected the vocabulary elmo_tasks_words"),
]


@pytest.mark.parametrize(("name", "overrides", "path", "words"), CASES)
def test_one_line_names_the_key(
    name: str, overrides: dict[str, Any], path: str, words: str, configs: Path
) -> None:
    file = configs / "mini" / f"{name}.jsonnet"
    (problem,) = check_config(file, json.dumps(overrides))
    assert problem.path == path
    assert words in str(problem)
    assert "\n" not in str(problem)


def test_invalid_regexes_have_their_own_reasons(configs: Path) -> None:
    overrides = {
        "model.regularizer": {"regexes": [["[", {"type": "l2"}]]},
        "trainer.no_grad": ["*"],
        "model.initializer": {"regexes": [["(", {"type": "zero"}]]},
    }
    found = check_config(configs / "mini/ner.jsonnet", json.dumps(overrides))
    assert [str(problem).partition("(")[2] for problem in sorted(found)] == [
        '" (missing ), unterminated subpattern at position 0)',
        "unterminated character set at position 0)",
        "nothing to repeat at position 0)",
    ]


def test_a_training_stops_before_its_folder_is_made(
    configs: Path, tmp_path: Path
) -> None:
    overrides = {"data_loader.batch_sampler.sorting_keys": ["x"]}
    with pytest.raises(InputError, match="nothing was read.*\n  data_loader.*: .*key"):
        run(configs / "mini" / "ner.jsonnet", tmp_path / "run", **overrides)
    assert not (tmp_path / "run").exists()


def test_nothing_is_left_of_a_dry_run(
    configs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = random.getstate(), numpy.random.get_state()[1], torch.get_rng_state()
    cache = tmp_path / "cache"
    overrides = {"model.elmo.cache_dir": str(cache)}
    assert check_config(configs / "ner_elmo.jsonnet", json.dumps(overrides)) == []
    assert random.getstate() == before[0]
    assert (numpy.random.get_state()[1] == before[1]).all()
    assert torch.equal(torch.get_rng_state(), before[2])
    assert capfd.readouterr() == ("", "")
    assert not cache.exists()


@Model.register("tests_tagger_of_labels")
class TaggerOfLabels(SimpleTagger):
    """A user's model, which needs a label that the first instances lack."""

    def __init__(self, vocab: Vocabulary, **options: Any) -> None:
        super().__init__(vocab, **options)
        self.location = vocab.get_token_index("B-LOC", "labels")


@Model.register("tests_tagger_with_required_folder")
class TaggerWithRequiredFolder(SimpleTagger):
    """A user's model, which writes to the folder of the run."""

    def __init__(
        self, vocab: Vocabulary, serialization_dir: str, **options: Any
    ) -> None:
        super().__init__(vocab, **options)
        self.notes = Path(serialization_dir) / "notes"


@DatasetReader.register("tests_two_tasks")
class TwoTasks(DatasetReader):
    """A user's reader, which reads in its own way."""

    limit, sample = 5, "x"

    def _read(self, file_path: Any) -> Any:
        raise LookupError(file_path)


SOUND: list[dict[str, Any]] = [
    {"data_loader": {"batch_size": 1000, "drop_last": True}},
    {
        "data_loader": {"batch_size": 2, "max_instances_in_memory": 4},
        "trainer.learning_rate_scheduler": None,  # which needs the number of batches
    },
    {"data_loader": {"batch_size": 2, "num_workers": 1, "batches_per_epoch": 3}},
    {"data_loader": {"batch_size": 2, "type": "elmo_tasks_share", "share": 0.01}},
    {"data_loader": {"batch_size": 2, "type": "elmo_tasks_share", "part": [0, 0.01]}},
    {"validation_data_loader": None},
    {"validation_data_path": None},
    {"vocabulary": {"min_count": {"tokens": 100}}},
    {"vocabulary": {"max_vocab_size": 5, "tokens_to_add": {"tokens": ["x"]}}},
    {"vocabulary": "from_instances", "dataset_reader.max_instances": 1},
    {"datasets_for_vocab_creation": ["train"]},
    {"model.elmo.mix": "last", "model.elmo.l2": None, "model.elmo.at": "both"},
    {"train_data_path": "https://example.invalid/eng.train"},
    {"model.elmo.model": "bundled"},
    {"model.elmo.model": "elmo-original"},
    {"model.elmo.model": "hf://owner/name", "model.elmo.pieces": "last"},
    {"model.elmo.weight_file": "https://example.invalid/bilm.hdf5"},
    {"trainer": {}},
    {"evaluation": "simple"},
]


@pytest.mark.parametrize("overrides", SOUND)
def test_sound_configs(overrides: dict[str, Any], configs: Path) -> None:
    file = configs / "mini" / "ner_elmo.jsonnet"
    assert check_config(file, json.dumps(overrides)) == []


def test_code_of_others_is_not_judged(tmp_path: Path) -> None:
    """It may need more data than the first instances, or the folder of the run."""
    config = tagger(tmp_path)
    config["model"]["type"] = "tests_tagger_of_labels"
    config["dataset_reader"]["max_instances"] = 1
    file = tmp_path / "tagger.json"
    file.write_text(json.dumps(config))
    assert check_config(file) == []
    config["model"]["type"] = "tests_tagger_with_required_folder"
    file.write_text(json.dumps(config))
    assert check_config(file) == []
    config["model"]["type"] = "simple_tagger"
    file.write_text(json.dumps(config))
    assert check_config(file) == []
    file.write_text(json.dumps(config | {"dataset_reader": "tests_two_tasks"}))
    assert check_config(file) == []


def column(path: Path, tags: list[str]) -> str:
    """A file of CoNLL-2003 with sentences of one word and these tags."""
    lines = [f"word NN O {tag}\n\n" for tag in tags]
    path.write_text("".join(lines))
    return str(path)


@pytest.mark.parametrize("first", ["O", "B-PER"])
@pytest.mark.parametrize("other", ["B-LOC", "O"])
def test_labels_that_the_first_instances_lack(
    first: str, other: str, configs: Path, tmp_path: Path
) -> None:
    data = {
        "train_data_path": column(tmp_path / "train", [first] * 30 + ["B-LOC", "O"]),
        "validation_data_path": column(tmp_path / "dev", [other] * 5),
    }
    assert check_config(configs / "mini" / "ner.jsonnet", json.dumps(data)) == []


def test_first_documents_without_clusters(configs: Path, tmp_path: Path) -> None:
    sound = SAMPLES["coref"].read_text()
    lines = []
    for line in sound.splitlines(keepends=True):
        if line.strip() and not line.startswith("#"):
            kept, _ = line.rstrip().rsplit(None, 1)
            line = f"{kept}\t-\n"
        lines.append(line)
    bare = "".join(lines)
    first = []
    for number in range(10, 20):
        named = bare.replace("bc/pier/00", f"bc/pier/{number}")
        first.append(named.replace("GUM_fiction_gull", f"gull_{number}"))
    file = tmp_path / SAMPLES["coref"].name
    file.write_text("".join([*first, sound]))
    data = {"train_data_path": str(file), "validation_data_path": str(file)}
    config = configs / "mini" / "coref.jsonnet"
    assert check_config(config, json.dumps(data)) == []
    file.write_text(bare)
    (problem,) = check_config(config, json.dumps(data))
    assert "training needs gold answers, and the data have none" in str(problem)


def test_weights_from_a_file_of_another_vocabulary(
    configs: Path, tmp_path: Path
) -> None:
    """The initializer `pretrained` fits the whole vocabulary alone."""
    torch.save({"a": torch.zeros(3)}, tmp_path / "weights.th")
    given = {"type": "pretrained", "weights_file_path": str(tmp_path / "weights.th")}
    regexes = {"regexes": [["input_encoder.embedder.*weight", given]]}
    config = configs / "mini" / "ner.jsonnet"
    overrides = json.dumps({"model.initializer": regexes})
    assert check_config(config, overrides) == []


def test_a_pipe_is_not_read(configs: Path, tmp_path: Path) -> None:
    """It would be empty for the training."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = {"train_data_path": str(pipe)}
    config = configs / "mini" / "ner.jsonnet"
    assert check_config(config, json.dumps(data)) == []
