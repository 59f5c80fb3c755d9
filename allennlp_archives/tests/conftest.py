"""Trains an archive of each family once, and installs a spaCy model for the others."""

# isort: off
import elmo_tasks.plugin  # noqa: F401 (makes AllenNLP importable)

# isort: on

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.common.util import LOADED_SPACY_MODELS
from allennlp.data import DatasetReader
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.evaluation import SimpleEvaluator
from allennlp.models import Model
from allennlp.predictors import Predictor

import families
from elmo_tasks.host import register_classes
from helpers import Trained
from spacy_model import write_spacy_model
from tests.conftest import browser as browser
from tests.conftest import fixed_seeds as fixed_seeds
from tests.conftest import own_cache as own_cache
from tests.conftest import own_verbosity as own_verbosity
from tests.web.conftest import show as show


@pytest.fixture(scope="session", autouse=True)
def registered() -> None:
    register_classes()


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the transformers, where the archives are trained."""
    folder = tmp_path_factory.mktemp("families")
    families.write_transformers(folder)
    return folder


@pytest.fixture(scope="session")
def spacy_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of a tiny spaCy model, to be put on the path."""
    return write_spacy_model(tmp_path_factory.mktemp("spacy"))


@contextlib.contextmanager
def installed(package: Path) -> Iterator[None]:
    """Inside, spaCy's model is installed."""
    sys.path.insert(0, str(package))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(package))
        LOADED_SPACY_MODELS.clear()


@pytest.fixture
def with_spacy_model(spacy_package: Path) -> Iterator[None]:
    with installed(spacy_package):
        yield


def _predictions(
    name: str, model: Model, reader: DatasetReader
) -> list[dict[str, Any]]:
    predictor = Predictor.by_name(model.default_predictor)(model, reader)
    predictions = []
    for line in families.FAMILIES[name].lines:
        predictions.append(predictor.predict_json(line))
    return predictions


def _scores(params: Params, run: Path, corpus: Path) -> dict[str, Any]:
    """A model carries ELMo's states from one batch to the next: another copy."""
    model = Model.load(params.duplicate(), run)
    reader = DatasetReader.from_params(params["dataset_reader"].duplicate())
    loader = MultiProcessDataLoader(reader, str(corpus), batch_size=2)
    loader.index_with(model.vocab)
    return dict(SimpleEvaluator()(model, loader))


@pytest.fixture(scope="session")
def trained(place: Path, spacy_package: Path) -> Callable[[str], Trained]:
    """The archive of a family, trained when it is first asked for."""

    from allennlp_archives.trees import readable_by_nltk

    @cache
    def train(name: str) -> Trained:
        with contextlib.chdir(place), installed(spacy_package):
            with readable_by_nltk(place / "any"):
                run = families.train(name, place)
            params = families.config_of(run)
            model = Model.load(params.duplicate(), run)
            reader = DatasetReader.from_params(params["dataset_reader"].duplicate())
            corpus = place / params["train_data_path"]
            if name in families.FAMILIES:
                predictions = _predictions(name, model, reader)
            else:
                predictions = [
                    model.forward_on_instance(i) for i in reader.read(corpus)
                ]
            with readable_by_nltk(corpus):
                scores = _scores(params, run, corpus)
            return Trained(run, corpus, predictions, scores)

    return train
