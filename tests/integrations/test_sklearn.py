"""`ElmoVectorizer` in scikit-learn."""

import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
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
    assert every.fit_transform(TEXTS).shape == (12, 36)
    assert every._elmo() is vectorizer._elmo()
    with pytest.raises(InputError, match="pooling: expected"):
        ElmoVectorizer(pooling="sum")


def test_check_estimator() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says which checks are not for texts
        check_estimator(ElmoVectorizer())


def test_search_and_joblib(vectorizer: ElmoVectorizer, tmp_path: Path) -> None:
    model = make_pipeline(vectorizer, LogisticRegression())
    search = GridSearchCV(
        model, {"elmovectorizer__layers": [0, "top"], "elmovectorizer__pooling": ["mean", "max"]}, cv=2
    )
    search.fit(TEXTS, [1, 1, 1, 0, 0, 0] * 2)
    joblib.dump(search, tmp_path / "search.joblib")
    assert search.best_score_ == 1.0
    assert joblib.load(tmp_path / "search.joblib").predict(TEXTS[:4]).tolist() == [1, 1, 1, 0]
