"""`Elmo.encode` as a step of scikit-learn's pipelines, as ADAPTERS shows it."""

from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from elmo_tasks.elmo import Elmo
from tests.elmo.samples import write_bilm

TEXTS = [
    f"{subject} {verb} ." for subject in "abcdef" for verb in ("runs", "sat on it")
]
LABELS = [text.endswith("runs .") for text in TEXTS]
LENGTHS = [float(len(text)) for text in TEXTS]
FRAME = pandas.DataFrame({"text": TEXTS, "length": LENGTHS})

INPUTS: dict[str, Any] = {
    "list": TEXTS,
    "Series": FRAME["text"],
    "array": np.array(TEXTS),
    "array of objects": np.array(TEXTS, object),
}


@pytest.fixture(scope="module")
def elmo(tmp_path_factory: pytest.TempPathFactory) -> Elmo:
    return Elmo.from_files(*write_bilm(tmp_path_factory.mktemp("bilm")))


@pytest.fixture(scope="module")
def vectors(elmo: Elmo) -> np.ndarray:
    return elmo.encode(TEXTS)


def vectorizer(elmo: Elmo) -> FunctionTransformer:
    return FunctionTransformer(elmo.encode)


@pytest.mark.parametrize("kind", INPUTS)
def test_pipelines(elmo: Elmo, vectors: np.ndarray, kind: str) -> None:
    model = make_pipeline(vectorizer(elmo), LogisticRegression())
    found = model.fit(INPUTS[kind], LABELS).predict_proba(INPUTS[kind])
    expected = LogisticRegression().fit(vectors, LABELS).predict_proba(vectors)
    assert np.allclose(found, expected, atol=1e-6)
    scores = cross_val_score(model, INPUTS[kind], LABELS, cv=3)
    assert np.allclose(scores, cross_val_score(model[1:], vectors, LABELS, cv=3))
    search = GridSearchCV(
        model,
        {"functiontransformer__kw_args": [{"layers": 0}, {"layers": "top"}]},
        cv=2,
    )
    search.fit(INPUTS[kind], LABELS)
    top = make_pipeline(
        FunctionTransformer(elmo.encode, kw_args={"layers": "top"}),
        LogisticRegression(),
    )
    found = search.cv_results_["mean_test_score"][1]
    assert np.isclose(found, cross_val_score(top, TEXTS, LABELS, cv=2).mean())


def test_a_union_of_features(elmo: Elmo, vectors: np.ndarray) -> None:
    union = FeatureUnion([("elmo", vectorizer(elmo)), ("again", vectorizer(elmo))])
    found = union.fit_transform(FRAME["text"])
    assert np.allclose(found, np.hstack([vectors, vectors]), atol=1e-6)
