"""Archives of strangers with models of allennlp-models: no code, nothing fetched."""

import json
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("allennlp_models", reason="tested by make test-models")


from elmo_tasks.errors import InputError
from elmo_tasks.training.archives.loading import load_archive
from helpers import Trained, changed
from tests.fuzz.subjects import with_member
from tests.hiding import python

Train = Callable[[str], Trained]


def replace(*path: str, value: Any) -> Callable[[str], str]:
    """Sets a value in a config."""

    def change(text: str) -> str:
        config = json.loads(text)
        part = config
        for key in path[:-1]:
            part = part.setdefault(key, {})
        part[path[-1]] = value
        return json.dumps(config)

    return change


EMBEDDER = ("model", "text_field_embedder", "token_embedders", "tokens")


@pytest.mark.parametrize(
    "change",
    [
        replace("model", "type", value="allennlp_models.tagging.CrfTagger"),
        replace("dataset_reader", "type", value="stranger.Reader"),
        replace("model", "encoder", "type", value="this.Poem"),
        replace("model", "encoder", value="this.Poem"),
        replace("validation_dataset_reader", value={"type": "this.Poem"}),
    ],
)
def test_code_in_the_config(
    change: Callable[[str], str], trained: Train, tmp_path: Path
) -> None:
    archive = changed(trained("tagging").archive, change, tmp_path / "model.tar.gz")
    with pytest.raises(InputError, match="config.json names code to run"):
        load_archive(archive)


def test_code_that_is_never_constructed(trained: Train, tmp_path: Path) -> None:
    """A trained model has its weights: its initializer is left out."""
    change = replace("model", "initializer", value={"type": "this.Poem"})
    load_archive(changed(trained("tagging").archive, change, tmp_path / "model.tar.gz"))
    assert "this" not in sys.modules


class Bomb:
    """What makes a pickle dangerous."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (exec, ("raise SystemExit('a pickle was executed')",))


@pytest.mark.parametrize(
    "member", ["weights.th", "vocabulary/tokens.txt", "vocabulary/more.pkl"]
)
def test_a_pickle(member: str, trained: Train, tmp_path: Path) -> None:
    archive = tmp_path / "model.tar.gz"
    content = pickle.dumps(Bomb())
    archive.write_bytes(with_member(member, content, trained("tagging").archive))
    with pytest.raises(InputError, match="weights.th is damaged|no model can be built"):
        load_archive(archive)


@pytest.mark.parametrize(
    "change",
    [
        replace(*EMBEDDER, "pretrained_file", value="http://192.0.2.1/vectors.txt"),
        replace("model", "srl_eval_path", value="http://192.0.2.1/x"),
        replace(
            "dataset_reader",
            "token_indexers",
            "pieces",
            value={"type": "pretrained_transformer", "model_name": "no-such/model"},
        ),
        replace(
            "model",
            "text_field_embedder",
            "token_embedders",
            "elmo",
            "options_file",
            value="http://192.0.2.1/options.json",
        ),
    ],
)
def test_nothing_is_fetched(
    change: Callable[[str], str], trained: Train, tmp_path: Path
) -> None:
    """The address is one that never answers: a connection would hang."""
    archive = changed(trained("tagging").archive, change, tmp_path / "model.tar.gz")
    began = time.monotonic()
    try:
        load_archive(archive)
    except InputError as error:
        assert "\n" not in str(error)
    assert time.monotonic() - began < 30


SCRIPTS = """
import sys

from elmo_tasks.host import register_classes
register_classes()

from allennlp.models import Model
print(sorted({"srl", "crf_tagger", "bidaf", "t5"} & set(Model.list_available())))
print("allennlp_models.rc.tools.narrativeqa" in sys.modules)
print("pkg_resources" in sys.modules)

import rouge
rouge.Rouge()  # reads the file whose path it asks for
print(len(rouge.Rouge.WORDNET_KEY_VALUE) > 0)
"""

REFUSE = """
import sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise SystemExit(f"tried to fetch {arguments}")

sys.addaudithook(refuse)
"""


def test_importing_the_families_fetches_nothing(tmp_path: Path) -> None:
    """A script of allennlp-models downloads data of nltk when it is imported."""
    shown = python(REFUSE + SCRIPTS, tmp_path).splitlines()
    assert shown[-4:] == [
        "['bidaf', 'crf_tagger', 'srl', 't5']",
        "False",
        "False",
        "True",
    ]
