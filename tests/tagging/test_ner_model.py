"""
The NER tagger: loss and decoding against enumeration, padding, unknown tags, gradients,
ELMo.
"""

import math
from collections.abc import Sequence
from itertools import pairwise, product

import pytest
import torch
from allennlp.data import Instance, Vocabulary

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.spans import to_bioul
from elmo_tasks.tasks.tagging.model import NerTagger
from elmo_tasks.tasks.tagging.reader import SCHEMES, NerReader
from tests.models import WORDS, tensors, word_encoder
from tests.tiny import heard


def instances(*tagged: str) -> list[Instance]:
    """Sentences written as `word/TAG word/TAG`."""
    reader = NerReader(token_indexers=WORDS)
    made = []
    for sentence in tagged:
        words = []
        tags = []
        for token in sentence.split():
            word, tag = token.rsplit("/", 1)
            words.append(word)
            tags.append(tag)
        one = reader.text_to_instance(words, tags)
        reader.apply_token_indexers(one)
        made.append(one)
    return made


def build(*tagged: str) -> NerTagger:
    vocab = Vocabulary.from_instances(instances(*tagged))
    return NerTagger(vocab, word_encoder(vocab)).eval()


def best_and_all(
    model: NerTagger, logits: list[list[float]]
) -> tuple[list[str], float]:
    """
    The best legal path of one sentence and the log-sum-exp over all paths, by
    enumeration.
    """
    everything = 0.0
    best: list[str] = []
    greatest = -math.inf
    for path in product(range(len(model.tags)), repeat=len(logits)):
        value = score(model, logits, path)
        everything += math.exp(value)
        tags = [model.tags[tag] for tag in path]
        if value > greatest and is_legal(tags):
            greatest = value
            best = tags
    return best, math.log(everything)


def score(model: NerTagger, logits: list[list[float]], path: Sequence[int]) -> float:
    transitions = model.crf.transitions.tolist()
    total = 0.0
    for of_word, tag in zip(logits, path, strict=True):
        total += of_word[tag]
    for before, after in pairwise(path):
        total += transitions[before][after]
    return total


def is_legal(tags: Sequence[str]) -> bool:
    return to_bioul(tags) == list(tags)


def test_loss_and_decoding_equal_enumeration() -> None:
    model = build("Mira/B-PER Oakes/L-PER left/O")
    assert sorted(model.tags) == ["B-PER", "I-PER", "L-PER", "O", "U-PER"]
    gold = [["B-PER", "I-PER", "L-PER", "O"], ["U-PER"], ["O", "I-PER", "U-PER"]]
    logits = torch.randn(3, 4, 5) * 2
    mask = torch.arange(4)[None] < torch.tensor([[4], [1], [3]])
    tags = torch.zeros(3, 4, dtype=torch.long)
    decoded = model.decode(logits, mask)
    expected = 0.0
    for row, expected_tags in enumerate(gold):
        path = [model.tags.index(tag) for tag in expected_tags]
        tags[row, : len(path)] = torch.tensor(path)
        scores = logits[row, : len(path)].tolist()
        best, everything = best_and_all(model, scores)
        expected += everything - score(model, scores, path)
        assert decoded[row] == best
    assert model.loss(logits, tags, mask).item() == pytest.approx(expected, rel=1e-5)


def test_missing_tags_of_known_types_are_added() -> None:
    model = build("Oakes/U-PER")
    assert model.tags == ["U-PER", "O", "B-PER", "I-PER", "L-PER"]
    assert list(model.vocab.get_token_to_index_vocabulary("labels")) == model.tags
    mask = torch.ones(1, 1, dtype=torch.bool)
    (decoded,) = model.decode(torch.full((1, 1, 5), 9.0), mask)
    assert decoded in (["O"], ["U-PER"])


def test_spans_of_the_reader_and_of_the_model() -> None:
    """One without the other had an F1 of 0, or one of tags, and said nothing."""
    with pytest.raises(InputError, match="legal: expected false, or a reader with"):
        build("Mira/B-PER Oakes/I-PER left/O")
    vocab = Vocabulary()
    vocab.add_token_to_namespace("BIO", SCHEMES)
    with pytest.raises(InputError, match="spans: expected true, as the reader's"):
        NerTagger(vocab, word_encoder(vocab), spans=False, legal=False)


def test_unknown_gold_types_are_misses_without_loss(
    caplog: pytest.LogCaptureFixture,
) -> None:
    known = instances("Mira/B-PER Oakes/L-PER left/O")
    model = build("Mira/B-PER Oakes/L-PER left/O")
    with heard(caplog, "elmo_tasks"):
        model(**tensors(model.vocab, known))
        assert caplog.text == ""
        model(**tensors(model.vocab, instances("the/O Gull/U-SHIP sank/O")))
    (warning,) = set(caplog.messages)
    assert warning.endswith("are misses, without a loss: U-SHIP")
    caplog.clear()
    foreign = instances("the/O Gull/U-SHIP sank/O")
    batch = tensors(model.vocab, known + foreign)
    expected = model(**tensors(model.vocab, known))["loss"].item()
    assert model(**batch)["loss"].item() == pytest.approx(expected, rel=1e-5)
    model.get_metrics(reset=True)
    with heard(caplog, "elmo_tasks"):
        model(**batch)
    assert caplog.text == ""  # once
    assert model.f1.report()["labels"]["SHIP"]["gold"] == 1
    assert model.get_metrics(reset=True)["recall-SHIP"] == 0.0
    alone = model(**tensors(model.vocab, foreign))
    assert alone["loss"].item() == 0.0
    alone["loss"].backward()


def test_all_legal_tags_without_types() -> None:
    sentences = "a/B b/L c/O", "a/U d/O"
    model = build(*sentences)
    assert sorted(model.tags) == ["B", "I", "L", "O", "U"]
    decoded = model(**tensors(model.vocab, instances(*sentences)))["tags"]
    assert [to_bioul(tags) for tags in decoded] == decoded
