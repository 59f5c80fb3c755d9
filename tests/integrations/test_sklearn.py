"""`ElmoVectorizer` in scikit-learn."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.integrations.sklearn import ElmoVectorizer
from tests.elmo.samples import write_bilm

TEXTS = ["a fine film", "a fine play", "fine work", "a dull film", "a dull play", "dull work"] * 2


@pytest.fixture
def vectorizer(tmp_path: Path) -> ElmoVectorizer:
    return ElmoVectorizer(*write_bilm(tmp_path))


def test_vectors(vectorizer: ElmoVectorizer) -> None:
    elmo = Elmo.from_files(vectorizer.options_file, vectorizer.weight_file)
    assert np.allclose(vectorizer.transform(TEXTS), elmo.embed_sentences(TEXTS), atol=1e-6)
    every = clone(vectorizer).set_params(layers="all", pooling="max")
    assert every.fit_transform(TEXTS).shape == (12, 36) and len(every.get_feature_names_out()) == 36
    assert every._elmo() is vectorizer._elmo()
    with pytest.raises(InputError, match="pooling: expected"):
        ElmoVectorizer(pooling="sum")


def test_check_estimator() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says which checks are not for texts
        check_estimator(ElmoVectorizer())
