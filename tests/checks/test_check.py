"""
The three outcomes of `check`: no problems, problems, or not constructed, since something
would have to be fetched. It leaves nothing behind.
"""

import json
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model, SimpleTagger

from elmo_tasks.cli.check import check_config
from elmo_tasks.cli.main import run as run_command
from elmo_tasks.training.checks.construct import check
from elmo_tasks.training.checks.keys import wrong_keys
from elmo_tasks.training.config import read_config
from elmo_tasks.training.folder import digests
from tests.archives.test_other_models import tagger
from tests.checks.mistakes import TOKENS
from tests.test_configs import FOLDER
from tests.tiny import SAMPLES
from tests.web_server import serving

pytestmark = pytest.mark.usefixtures("configs")

NER = FOLDER / "ner_elmo.jsonnet"
URL = "https://example.invalid"
TRANSFORMER = {"tokens": {"type": "pretrained_transformer", "model_name": "a/b"}}

FETCHED: dict[str, dict[str, Any]] = {
    f"{TOKENS}.pretrained_file": {f"{TOKENS}.pretrained_file": f"{URL}/vectors.txt"},
    "model.elmo.model": {"model.elmo.model": f"{URL}/bilm.zip"},
    "model.elmo.weight_file": {"model.elmo.weight_file": f"{URL}/weights.hdf5"},
    "model.elmo.model of the list": {"model.elmo.model": "elmo-original"},
    "model.elmo.model of the hub": {"model.elmo.model": "hf://owner/name"},
    "model.elmo.model by its name": {
        "model.elmo.source": "transformer",
        "model.elmo.model": "owner/name",
    },
    "dataset_reader.token_indexers.tokens.model_name": {
        "dataset_reader.token_indexers": TRANSFORMER
    },
    "train_data_path": {"train_data_path": f"{URL}/eng.train"},
    "validation_data_path": {"validation_data_path": f"{URL}/eng.testa"},
    "vocabulary.directory": {
        "vocabulary": {"type": "from_files", "directory": f"{URL}/vocabulary.tar.gz"}
    },
}
"""What a config names that is not on this machine, by its key."""


@pytest.mark.parametrize("name", FETCHED)
def test_what_would_be_fetched_is_not_constructed(name: str) -> None:
    changes = FETCHED[name]
    key, *_ = name.split()
    checked = check_config(NER, json.dumps(changes))
    assert (checked.problems, list(checked.left_out)) == ([], [key])
    found = check_config(NER, json.dumps({**changes, "trainer.patiance": 1}))
    (problem,) = found.problems
    assert problem.startswith("trainer.patiance: ")
    assert problem.endswith("(nearest: patience)")
    assert list(found.left_out) == [key]


def test_words_that_have_no_index() -> None:
    keys = {"vocabulary": {"non_padded_namespaces": ["tokens"]}}
    (problem,) = check_config(FOLDER / "sst.jsonnet", json.dumps(keys)).problems
    assert problem.startswith("vocabulary: KeyError: ") and "@@UNKNOWN@@" in problem


def test_a_score_that_would_be_minimised() -> None:
    keys = {"trainer.validation_metric": "-f1"}
    (problem,) = check_config(NER, json.dumps(keys)).problems
    assert problem.endswith(
        "metric: expected + before a score, - before a loss, got -f1"
    )


def test_values_are_looked_at_without_vectors_or_elmo() -> None:
    for key in (f"{TOKENS}.pretrained_file", "model.elmo.model"):
        for wrong in (
            {"model.encoder.hidden_sizes": 100},
            {"trainer.optimizer.lr": -1},
            {"trainer.validation_metric": "+f2"},
        ):
            found = check_config(NER, json.dumps({**FETCHED[key], **wrong}))
            assert len(found.problems) == len(found.left_out) == 1


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.address)
        for changes in FETCHED.values():
            text = json.dumps(changes).replace(URL, f"{server.address}/sound")
            assert check_config(NER, text).left_out
        assert not server.requests


def test_numbers_out_of_range() -> None:
    """A number for each task is none of them."""
    loader = {"padding_noise": -0.1, "scheduler": {"batch_size": {"snli": 4}}}
    trainer = {
        "optimizer": {"betas": [0.9]},
        "learning_rate_scheduler": {"warmup_steps": -5},
    }
    found = wrong_keys({"data_loader": loader, "trainer": trainer})
    assert [line.partition(": ")[0] for line in found] == [
        "data_loader.padding_noise",
        "trainer.optimizer.betas",
        "trainer.learning_rate_scheduler.warmup_steps",
    ]


def test_a_text_is_no_list_of_its_letters() -> None:
    """AllenNLP reads `"text"` as `["t", "e", "x", "t"]`."""
    groups = [["text", {"lr": 0.1}]]
    config = {
        "dataset_reader": {"token_indexers": {"tokens": {"start_tokens": "text"}}},
        "vocabulary": {"tokens_to_add": {"labels": "text"}},
        "model": {"initializer": {"prevent_regexes": "text"}},
        "data_loader": {"batch_sampler": {"sorting_keys": "text"}},
        "trainer": {"no_grad": "text", "optimizer": {"parameter_groups": groups}},
    }
    assert list(wrong_keys(config)) == [
        f"{path}: expected a valid list, got 'text'"
        for path in (
            "dataset_reader.token_indexers.tokens.start_tokens",
            "vocabulary.tokens_to_add.labels",
            "model.initializer.prevent_regexes",
            "data_loader.batch_sampler.sorting_keys",
            "trainer.no_grad",
            "trainer.optimizer.parameter_groups.0.0",
        )
    ]


DIVIDED = {"batch_size": 2, "type": "elmo_tasks_share", "share": 0.01}


@pytest.mark.parametrize(
    ("changes", "status", "first", "last"),
    [
        ({"trainer.num_epochs": True}, 1, "1 problem", "a valid integer, got True"),
        ({"trainer.patience": True}, 1, "1 problem", "a valid integer, got True"),
        (
            {"data_loader": DIVIDED, "validation_data_loader": None},
            1,
            "1 problem",
            "it would read a part of these data, too)",
        ),
        ({"evaluate_on_test": True}, 1, "1 problem", "which is not in the config"),
        ({"batch_weight_key": "los"}, 1, "1 problem", "loss_count, tags, got 'los'"),
        (
            {"vocabulary": {"max_vocab_size": {"token": 9}}},
            1,
            "1 problem",
            "max_vocab_size: expected one of labels, span_schemes, token_characters, tokens, got 'token'",
        ),
        (
            {"trainer.num_epoch": 3, "trainner": {}},
            1,
            "2 problems",
            "(nearest: num_epochs)",
        ),
        (
            {
                f"{TOKENS}.lookup_file": "b.txt",
                "dataset_reader.lookup_files": ["c.txt"],
            },
            1,
            "1 problem",
            "0: expected the model's lookup_file b.txt, got c.txt",
        ),
        (
            FETCHED["model.elmo.model"],
            0,
            "not constructed: model.elmo.model would be fetched",
            "model.elmo.model would be fetched",
        ),
        (
            {**FETCHED["model.elmo.model"], "trainer.num_epoch": 3},
            1,
            "1 problem",
            "not constructed: model.elmo.model would be fetched",
        ),
    ],
)
def test_what_the_command_says(
    changes: dict[str, Any],
    status: int,
    first: str,
    last: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        run_command(["check", str(NER), "-o", json.dumps(changes)])
    assert ended.value.code == status
    printed = capsys.readouterr().out.strip()
    assert printed.splitlines()[0] == f"{NER}: {first}"
    assert printed.endswith(last)


@DatasetReader.register("tests_assertive")
class Assertive(DatasetReader):
    """A user's reader."""

    def _read(self, file_path: Any) -> Any:
        assert file_path is None


def test_a_failure_in_somebodys_own_code_has_its_place(tmp_path: Path) -> None:
    file = tmp_path / "tagger.json"
    config = tagger(tmp_path) | {"dataset_reader": "tests_assertive"}
    file.write_text(json.dumps(config))
    (problem,) = check_config(file).problems
    line = 1 + Path(__file__).read_text().split("\n").index(
        "        assert file_path is None"
    )
    assert problem.startswith("train_data_path: AssertionError")
    assert problem.endswith(f"({__file__}:{line})")


@Model.register("tests_tagger_of_labels")
class TaggerOfLabels(SimpleTagger):
    """
    A user's model, which needs a label that the first instances lack, and has no loss
    in an evaluation.
    """

    def __init__(
        self, vocab: Vocabulary, serialization_dir: str, **options: Any
    ) -> None:
        super().__init__(vocab, **options)
        self.location = vocab.get_token_index("B-LOC", "labels")
        self.notes = Path(serialization_dir) / "notes"

    def forward(self, **inputs: Any) -> Any:
        outputs = super().forward(**inputs)
        if not self.training:
            del outputs["loss"]
        return outputs


def column(path: Path, tags: list[str]) -> str:
    """A file of CoNLL-2003 with sentences of one word and these tags."""
    lines = [f"word{chr(97 + n % 26)} NN O {tag}\n\n" for n, tag in enumerate(tags)]
    path.write_text("".join(lines))
    return str(path)


@pytest.mark.parametrize("first", ["O", "B-PER"])
@pytest.mark.parametrize("other", ["B-LOC", "O"])
def test_labels_that_the_first_instances_lack(
    first: str, other: str, tmp_path: Path
) -> None:
    data = {
        "train_data_path": column(tmp_path / "train", [first] * 30 + ["B-LOC", "O"]),
        "validation_data_path": column(tmp_path / "dev", [other] * 5),
        "datasets_for_vocab_creation": ["train"],
    }
    assert check_config(NER.with_stem("ner"), json.dumps(data)).problems == []
    config = tagger(tmp_path) | data
    config["model"]["type"] = "tests_tagger_of_labels"
    assert check(config).problems == []


def test_first_documents_without_clusters(tmp_path: Path) -> None:
    sound = SAMPLES["coref"].read_text()
    bare = ""
    for line in sound.splitlines(keepends=True):
        if line.strip() and not line.startswith("#"):
            line = f"{line.rstrip().rsplit(None, 1)[0]}\t-\n"
        bare += line
    documents = ""
    for number in range(10, 35):
        named = bare.replace("bc/pier/00", f"bc/pier/{number}")
        documents += named.replace("GUM_fiction_gull", f"gull_{number}")
    file = tmp_path / SAMPLES["coref"].name
    file.write_text(documents + sound)
    data = {"train_data_path": str(file), "validation_data_path": str(file)}
    assert check_config(FOLDER / "coref.jsonnet", json.dumps(data)).problems == []
    file.write_text(bare)
    checked = check_config(FOLDER / "coref.jsonnet", json.dumps(data))
    assert "training needs gold answers" in checked.problems[0]


SOUND: list[dict[str, Any]] = [
    {"data_loader": {"batch_size": 1000, "drop_last": True}},
    {
        "data_loader": {"batch_size": 2, "max_instances_in_memory": 4},
        "trainer.learning_rate_scheduler": None,  # which needs the number of batches
    },
    {"data_loader": {"batch_size": 2, "num_workers": 1, "batches_per_epoch": 3}},
    {"data_loader": DIVIDED},
    {"data_loader": {"batch_size": 2, "type": "elmo_tasks_share", "part": [0, 0.01]}},
    {"validation_data_loader": None},
    {"validation_data_path": None},
    {"vocabulary": {"min_count": {"tokens": 100}, "max_vocab_size": {"labels": 9}}},
    {"vocabulary": {"max_vocab_size": 5, "tokens_to_add": {"tokens": ["x"]}}},
    {"vocabulary": "from_instances", "dataset_reader.max_instances": 1},
    {"datasets_for_vocab_creation": ["train"]},
    {"model.elmo.mix": "last", "model.elmo.l2": None, "model.elmo.at": "both"},
    {"model.elmo.model": "bundled"},
    {"trainer": {}},
    {"trainer.validation_metric": "+f1-X"},
    {"evaluation": "simple", "batch_weight_key": "loss"},
    {"seed": 3},
    {"distributed": {"cuda_devices": [-1, -1]}},
]


@pytest.mark.parametrize("overrides", SOUND, ids=str)
def test_sound_configs(overrides: dict[str, Any]) -> None:
    assert check_config(NER, json.dumps(overrides))[:2] == ([], {})


@pytest.mark.parametrize("name", ["a!b.txt", "(a)#b.txt", "a, b.txt", "[a].txt"])
def test_a_path_that_exists_is_no_pattern_nor_member(name: str, tmp_path: Path) -> None:
    """Its content is read, and so are vectors with such a name."""
    config = read_config(FOLDER / "sst.jsonnet").as_dict(quiet=True)
    words = config["model"]["text_field_embedder"]["token_embedders"]["tokens"]
    vectors = tmp_path / f"vectors {name}"
    vectors.write_text("the 1.0 2.0\n")
    words.update(pretrained_file=str(vectors), embedding_dim=2)
    train = tmp_path / name
    train.write_bytes(Path(config["train_data_path"]).read_bytes())
    config["train_data_path"] = str(train)
    assert check(config).problems == []
    assert str(train) in digests(config)
    train.write_text("no tree\n")
    (problem,) = check(config).problems
    assert problem.startswith(f"train_data_path: {train}:1: ")


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    """It would be empty for the training."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    checked = check_config(NER, json.dumps({"train_data_path": str(pipe)}))
    reason = {"train_data_path": "can be read only once"}
    assert checked[:2] == ([], reason)


@pytest.mark.parametrize("wrong", [{}, {"model.encoder.hidden_sizes": [0]}])
def test_nothing_is_left(
    wrong: dict[str, Any],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    before = random.getstate(), repr(numpy.random.get_state()), torch.get_rng_state()
    overrides = {**wrong, "model.elmo.cache_dir": "cache"}
    assert len(check_config(NER, json.dumps(overrides)).problems) == len(wrong)
    assert random.getstate() == before[0]
    assert repr(numpy.random.get_state()) == before[1]
    assert torch.equal(torch.get_rng_state(), before[2])
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []
