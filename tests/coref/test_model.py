"""
The coreference model. Properties of all task models are in
tests/tasks/test_task_models.py.
"""

from typing import Any

import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.brackets import Cluster
from elmo_tasks.tasks.coref.antecedents import TopSpans
from elmo_tasks.tasks.coref.model import (
    CorefModel,
    Document,
    cluster_labels,
    window,
)
from elmo_tasks.tasks.coref.reader import CorefReader
from elmo_tasks.tasks.coref.spans import prune_crossing_spans
from tests.models import Build, corpus, tensors
from tests.tiny import ELMO_DIM, tiny_model


def story(model: CorefModel, place: int = 0) -> tuple[dict[str, Any], Document]:
    """One document of the fixture as a batch, and as the model sees it."""
    batch = tensors(model.vocab, corpus("coref")[place : place + 1])
    known = batch["metadata"][0]
    text = {}
    for key, tensors_of_key in batch["text"].items():
        text[key] = {name: ids[0] for name, ids in tensors_of_key.items()}
    lengths = [len(sentence) for sentence in known["sentences"]]
    speakers = batch["speakers"][0]
    genre = batch["genre"][0]
    return batch, Document(text, speakers, genre, lengths, known["clusters"])


def by_loops(model: CorefModel, document: Document) -> tuple[float, list[Cluster]]:
    """Loss and clusters, span by span and pair by pair, from the parts of the model."""
    encoded, values, lengths = model._words(document)
    grid = model.spans(encoded, values, lengths)
    places = prune_crossing_spans(grid.scores, grid.mask, limit=int(0.4 * len(encoded)))
    kept = [(n, n + w + 1) for n, w in places.tolist()]
    home = {}
    for number, cluster in enumerate(document.clusters):
        home.update(dict.fromkeys(cluster, number))
    loss = 0.0
    clusters: dict[Any, Cluster] = {}
    scores = pair_scores(model, document, grid, places, encoded, values)
    for i, span in enumerate(kept):
        options = {-1: 0.0}
        right = []
        for j in range(max(0, i - model.antecedents.max_antecedents), i):
            options[j] = scores[i, j]
            if span in home and home.get(kept[j]) == home[span]:
                right.append(scores[i, j])
        total = torch.tensor(list(options.values())).logsumexp(0)
        loss += (total - torch.tensor(right or [0.0]).logsumexp(0)).item()
        antecedent = max(options, key=options.__getitem__)
        if antecedent >= 0:
            before = kept[antecedent]
            cluster = clusters.setdefault(before, [before])
            cluster.append(span)
            clusters[span] = cluster
    distinct = {id(cluster): cluster for cluster in clusters.values()}
    return loss, sorted(distinct.values())


def pair_scores(
    model: CorefModel,
    document: Document,
    grid: Any,
    places: Any,
    encoded: Any,
    values: Any,
) -> Any:
    first, width = places.unbind(1)
    vectors = model.spans.vectors(grid, encoded, values, places)
    kept = TopSpans(
        vectors,
        grid.scores[first, width],
        document.speakers[first],
        document.genre + 1,
    )
    whole: dict[tuple[int, int], float] = {}
    for scores, rows, columns in model.antecedents(kept):
        for i in range(rows.start, rows.stop):
            for j in range(columns.start, columns.stop):
                whole[i, j] = scores[i - rows.start, j - columns.start].item()
    return whole


def test_loss_and_clusters_by_loops(build: Build) -> None:
    model = build(max_antecedents=7)
    with torch.no_grad():
        batch, document = story(model)
        encoded, values, lengths = model._words(document)
        grid = model.spans(encoded, values, lengths)
        places = prune_crossing_spans(grid.scores, grid.mask, limit=10)
        kept = [(n, n + w + 1) for n, w in places.tolist()]
        gold = [kept[0::3], kept[1::3]]  # so that some have gold antecedents
        batch["metadata"][0]["clusters"] = gold
        document = document._replace(clusters=gold)
        pairs = pair_scores(model, document, grid, places, encoded, values)
        scores = torch.tensor(list(pairs.values()))
        last = model.antecedents.score.rest[-1]
        assert isinstance(last, torch.nn.Linear)
        # So that some are linked.
        last.bias.sub_(scores[scores.isfinite()].quantile(0.8))
        output = model(**batch)
        loss, clusters = by_loops(model, document)
    assert output["loss"].item() == pytest.approx(loss, rel=1e-5)
    assert output["clusters"] == [clusters] and clusters
    assert output["key"] == ["bc/pier/00/pier_0001"] and output["part"] == [0]


def test_a_window_by_hand(build: Build) -> None:
    _, document = story(build())
    cut = window(document, 1, 3)
    assert cut.lengths == [9, 6]
    assert cut.clusters == [[(9, 10)], [(0, 1)], [(3, 7), (11, 12)]]
    assert cut.speakers.tolist() == [0 + 1] * 9 + [0] * 6
    words = [ids[1:3] for ids in document.text["tokens"].values()]
    assert torch.equal(next(iter(cut.text["tokens"].values())), words[0])


def test_random_windows_during_training(build: Build) -> None:
    model = build(
        max_training_sentences=2, dropout=0.0, input_dropout=0.0, output_dropout=0.0
    )
    model.input_encoder.encoder.dropout = 0.0
    batch, document = story(model)
    parts = []
    for start in range(2):
        loss, _ = model._resolve(window(document, start, start + 2))
        parts.append(loss.item())
    model.train()
    drawn = [model(**batch)["loss"].item() for _ in range(20)]
    for loss in drawn:
        assert any(loss == pytest.approx(part, rel=1e-4) for part in parts)
    assert len({round(loss, 3) for loss in drawn}) == 2


def test_unknown_genres_share_a_row(build: Build) -> None:
    model = build()
    assert model.antecedents.genre.weight.shape[0] == 3
    assert not model.antecedents.genre.weight[0].any()
    losses = []
    for genre in ("", "weather", "bc"):
        reader = CorefReader()
        known = corpus("coref")[0]["metadata"].metadata
        instance = reader.text_to_instance(
            known["sentences"], genre=genre, clusters=known["clusters"]
        )
        reader.apply_token_indexers(instance)
        losses.append(model(**tensors(model.vocab, [instance]))["loss"].item())
    assert losses[0] == losses[1] != losses[2]


@pytest.mark.parametrize(
    ("head_values", "elmo", "width"),
    [
        ("embeddings", {"at": "input"}, 18),
        ("input", {"at": "input"}, 18 + ELMO_DIM),
        ("input", {"at": "output"}, 18),
    ],
)
def test_head_values(
    head_values: str, elmo: dict[str, Any] | None, width: int, build: Build
) -> None:
    model = build(elmo=elmo, head_values=head_values)
    _, document = story(model)
    encoded, values, _ = model._words(document)
    assert values.shape == (26, width)
    assert model.spans.output_size == 2 * encoded.shape[1] + 3 + width
    x = model.input_encoder(document.text).x
    assert torch.equal(values[:11], x[0, :11, :width])


def test_heads_need_embeddings_where_they_are_made_of_them(build: Build) -> None:
    words = tiny_model("coref")["text_field_embedder"]
    words["token_embedders"] = {"tokens": words["token_embedders"]["tokens"]}
    alone: dict[str, Any] = {"elmo": {"at": "input"}, "word_vectors": False}
    alone["text_field_embedder"] = words
    build(**alone, head_values="input")
    with pytest.raises(
        InputError, match="no embeddings for span heads .set head_values to input."
    ):
        build(**alone, head_values="embeddings")


def test_an_evaluation_without_gold_clusters_after_one_with_them(build: Build) -> None:
    model = build()
    batch, _ = story(model)
    for _ in range(2):
        model(**batch)
        assert "muc_f1" in model.get_metrics(reset=True)
    with pytest.raises(InputError, match="nothing to score: no document has gold"):
        model.get_metrics(reset=True)


def test_no_score_is_no_antecedent(build: Build) -> None:
    """
    Without weights all pairs score 0, as having no antecedent does, which is taken.
    """
    model = build()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    batch, _ = story(model)
    assert model.eval()(**batch)["clusters"] == [[]]


def test_the_numbers_of_gold_clusters() -> None:
    labels = cluster_labels([[(0, 1), (2, 4)], [(1, 3)], [(0, 9)]], (4, 2))
    expected = torch.zeros(4, 2, dtype=torch.long)
    expected[0, 0] = expected[2, 1] = 1
    expected[1, 1] = 2
    assert torch.equal(labels, expected)  # the last mention is wider than the grid
