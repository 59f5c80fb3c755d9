"""
What a model says of an instance does not depend on the other instances of its batch.
"""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.util import sanitize
from allennlp.data import DataLoader, DatasetReader, Instance, Vocabulary
from allennlp.models import Model
from allennlp.models.archival import Archive
from allennlp.predictors import Predictor
from allennlp.training import Trainer
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.squad.reader import GoldAnswer
from elmo_tasks.training.archives.loading import score
from elmo_tasks.training.pass_loss import loss_of_pass
from tests.comparison import assert_same
from tests.models import corpus, metadata
from tests.tiny import SAMPLES, SIZES, bilm_files, tiny_model, write_vectors

VECTORS = "vectors.txt"

IN_FILE = ["xebec", "Xebec", "felucca", "море", "é" * 150, "q"]
"""Words that only the file of vectors has."""

NOWHERE = ["Xyzzy", "日本語", "🙂", "z", "y" * 300, "@@PADDING@@", "<S>"]
"""Words that no file has."""

INVALID = ["", "a\0b"]
"""Words that a predictor rejects; models take them for unknown ones."""

WORD_VECTORS = [(False, False), (False, True), (True, False), (True, True)]
"""Whether there is a `lookup_file`, and `keep_all_pretrained`."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A folder with a biLM, which reads more characters than the released one, and
    vectors.
    """
    folder = tmp_path_factory.mktemp("files")
    bilm_files(folder, max_characters_per_token=100)
    words = IN_FILE + known_words("sst")[:3] + known_words("snli")[:3]
    write_vectors(folder / VECTORS, words, width=SIZES["embedding_dim"])
    return folder


@cache
def reader(task: str, file: Path | None = None) -> DatasetReader:
    """A task's reader, perhaps with a file of vectors."""
    keys: dict[str, Any] = {"type": f"elmo_tasks_{task}"}
    if file is not None:
        keys["lookup_files"] = [str(file)]
    return DatasetReader.from_params(Params(keys))


@cache
def known_words(task: str) -> list[str]:
    """A few words of the vocabulary, and two that it has in lower case."""
    vocab = Vocabulary.from_instances(corpus(task))
    words = list(vocab.get_token_to_index_vocabulary("tokens"))[2:]
    lower = [word for word in words if word.isalpha() and word.islower()]
    return words[:6] + [word.upper() for word in lower[:2]]


@cache
def model(
    task: str,
    folder: Path,
    *,
    elmo: bool,
    lookup: bool = False,
    keep: bool = False,
    unknown: str = "mean",
) -> Model:
    """
    A tiny model in evaluation mode; one that looks vectors up is as AllenNLP loads it
    from an archive.
    """
    words = {
        "type": "elmo_tasks_word_vectors",
        "embedding_dim": SIZES["embedding_dim"],
        "keep_all_pretrained": keep,
        "unknown": unknown,
    }
    file = str(folder / VECTORS)
    vocab = Vocabulary.from_instances(corpus(task))

    def made(**changes: Any) -> Model:
        config = tiny_model(task)
        config["text_field_embedder"]["token_embedders"]["tokens"] = words | changes
        if elmo:
            paths = {
                "options_file": str(folder / "options.json"),
                "weight_file": str(folder / "weights.hdf5"),
            }
            config["elmo"] = {**paths, "at": "both", "layer_norm": "sentence"}
        torch.manual_seed(5)
        return Model.from_params(Params(config), vocab=vocab).eval()

    trained = made(pretrained_file=file)
    if not lookup:
        return trained
    loaded = made(lookup_file=file)
    loaded.load_state_dict(trained.state_dict())
    return loaded


def texts(draw: st.DrawFn, task: str, *, raw: bool = False) -> list[str]:
    """One to six words, perhaps all of them known."""
    pool = known_words(task)
    if draw(st.booleans()):
        pool = pool + IN_FILE + NOWHERE
        if not raw:
            pool += INVALID
    return draw(st.lists(st.sampled_from(pool), min_size=1, max_size=6))


def snli(draw: st.DrawFn) -> tuple[dict[str, Any], Instance]:
    premise = texts(draw, "snli")
    hypothesis = texts(draw, "snli")
    given = {"premise": premise, "hypothesis": hypothesis}
    return given, reader("snli").text_to_instance(premise, hypothesis, "neutral")


def sst(draw: st.DrawFn) -> tuple[dict[str, Any], Instance]:
    words = texts(draw, "sst")
    return {"tokens": words}, reader("sst").text_to_instance(words, "3")


def tagged(draw: st.DrawFn, task: str) -> tuple[dict[str, Any], Instance]:
    words = texts(draw, task)
    known: set[str] = set()
    for instance in corpus(task):
        known.update(instance["tags"].labels)
    tag = st.sampled_from(sorted(known) + ["U-NEW"])
    tags = draw(st.lists(tag, min_size=len(words), max_size=len(words)))
    return {"tokens": words}, reader(task).text_to_instance(words, tags)


def ner(draw: st.DrawFn) -> tuple[dict[str, Any], Instance]:
    return tagged(draw, "ner")


def tagger(draw: st.DrawFn) -> tuple[dict[str, Any], Instance]:
    return tagged(draw, "tagger")


def srl(draw: st.DrawFn) -> tuple[dict[str, Any], Instance]:
    words = texts(draw, "srl")
    place = draw(st.integers(0, len(words) - 1))
    tags = [draw(st.sampled_from(["O", "B-ARG1", "B-NEW"])) for _ in words]
    tags[place] = draw(st.sampled_from(["B-V", "B-NEW"]))
    instance = reader("srl").text_to_instance(words, place, tags)
    return {"tokens": words, "predicates": [place]}, instance


def squad(draw: st.DrawFn) -> tuple[dict[str, Any], Instance]:
    passage = " ".join(texts(draw, "squad", raw=True))
    question = " ".join(texts(draw, "squad", raw=True))
    answer = GoldAnswer(passage.split()[0], draw(st.sampled_from([0, -1])))
    instance = reader("squad").text_to_instance(question, passage, [answer])
    return {"passage": passage, "question": question}, instance


def coref(draw: st.DrawFn) -> tuple[dict[str, Any], Instance]:
    sentences = [texts(draw, "coref") for _ in range(draw(st.integers(1, 3)))]
    last = sum(map(len, sentences)) - 1
    clusters = draw(st.sampled_from([None, [[(0, 1), (last, last + 1)]], []]))
    instance = reader("coref").text_to_instance(sentences, clusters=clusters)
    return {"sentences": sentences}, instance


DRAWN: dict[str, Callable[..., tuple[dict[str, Any], Instance]]] = {
    "snli": snli,
    "sst": sst,
    "srl": srl,
    "squad": squad,
    "coref": coref,
    "ner": ner,
    "tagger": tagger,
}
"""
For each task an input of the predictor, and the instance of the same with gold answers.
"""

for_all_tasks = pytest.mark.parametrize("task", DRAWN)


def same(found: Any, expected: Any) -> None:
    """The same keys and values, numbers up to rounding."""
    assert_same(found, expected, atol=1e-5)


def scored(built: Model, batches: list[list[Instance]]) -> tuple[Any, dict[str, float]]:
    """
    The outputs of all instances, in a pass over these batches, and its metrics with the
    mean loss; no metrics where there is no gold answer.
    """
    outputs: list[dict[str, Any]] = []
    with loss_of_pass(built) as losses:
        for batch in batches:
            outputs += built.forward_on_instances(batch)
    for output in outputs:  # of a single instance
        for name in ("loss", "loss_total", "loss_count"):
            output.pop(name, None)
    metrics = {}
    try:
        metrics = built.get_metrics(reset=True)
    except InputError as error:
        assert "nothing to score" in str(error)
    return sanitize(outputs), {**metrics, "loss": losses.mean}


@cache
def predictor(built: Model, task: str, file: Path) -> Predictor:
    return Predictor.by_name(built.default_predictor)(built, reader(task, file))


@pytest.mark.parametrize("elmo", [False, True], ids=["", "elmo"])
@for_all_tasks
def test_an_instance_alone_equals_itself_in_a_batch(
    task: str, elmo: bool, files: Path
) -> None:
    @settings(
        deadline=None,
        max_examples=5,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
    )
    @given(st.data(), st.sampled_from(WORD_VECTORS))
    def compare(data: st.DataObject, vectors: tuple[bool, bool]) -> None:
        lookup, keep = vectors
        built = model(task, files, elmo=elmo, lookup=lookup, keep=keep)
        drawn = data.draw(st.lists(st.composite(DRAWN[task])(), min_size=1, max_size=6))
        instances = [instance for _, instance in drawn]
        for instance in instances:
            reader(task, files / VECTORS).apply_token_indexers(instance)
        alone = scored(built, [[instance] for instance in instances])
        same(scored(built, [instances]), alone)
        inputs = [one for one, _ in drawn]
        predicts = predictor(built, task, files / VECTORS)
        words = set(words_in(inputs))
        if words & set(INVALID):
            with pytest.raises(InputError, match="expected a word|without NUL"):
                predicts.predict_batch_json(inputs)
        else:
            singles = [predicts.predict_json(one) for one in inputs]
            same(predicts.predict_batch_json(inputs), singles)

    compare()


def words_in(value: Any) -> list[Any]:
    """
    All values of an input: words where it has lists of them, raw texts, and numbers.
    """
    if isinstance(value, dict):
        return words_in(list(value.values()))
    if not isinstance(value, list):
        return [value]
    found = []
    for part in value:
        found += words_in(part)
    return found


@for_all_tasks
def test_scores_do_not_depend_on_the_batch_size(
    task: str, files: Path, tmp_path: Path
) -> None:
    """The model knows the words of the first instance, and looks up others."""
    config = tiny_model(task)
    vocab = Vocabulary.from_instances(corpus(task)[:1])
    for instance in corpus(task):
        for name, field in instance.fields.items():
            if name in ("tags", "label"):
                labels = Vocabulary.from_instances([Instance({name: field})])
                vocab.extend_from_vocab(labels)
    words = config["text_field_embedder"]["token_embedders"]["tokens"]
    words["lookup_file"] = str(files / VECTORS)
    torch.manual_seed(5)
    built = Model.from_params(Params(config), vocab=vocab).eval()
    loader = {"data_loader": {"batch_size": 5, "drop_last": True}}
    reads = reader(task, files / VECTORS)
    archive = Archive(built, Params(loader), reads, reads, None)
    file = SAMPLES[task]
    if task == "snli":  # pairs with known and unknown words in each place
        known = metadata(corpus("snli")[0])["premise"][0]
        rows = []
        for premise in (known, "Xyzzy", "xebec", f"{known} q"):
            for hypothesis in (known, "Xyzzy", "felucca", f"q {known} {known}"):
                pair = {"sentence1": premise, "sentence2": hypothesis}
                label = "neutral"
                if len(rows) % 3 == 0:
                    label = "entailment"
                rows.append(json.dumps(pair | {"gold_label": label}))
        file = tmp_path / "pairs.jsonl"
        file.write_text("\n".join(rows) + "\n")
    expected = score(archive, file, batch_size=1)
    assert expected["loss"] > 0
    for size in (None, 2, 100):
        same(score(archive, file, batch_size=size), expected)
    same(validated(built, reads, file, tmp_path / "run"), expected)


def validated(
    built: Model, reads: DatasetReader, file: Path, folder: Path
) -> dict[str, float]:
    """
    The scores of the validation in a training that changes nothing, with batches of
    three.
    """

    def loader(batch_size: int) -> DataLoader:
        params = Params({"batch_size": batch_size})
        made = DataLoader.from_params(params, reader=reads, data_path=str(file))
        made.index_with(built.vocab)
        return made

    trainer = Trainer.from_params(
        Params(
            {
                "type": "elmo_tasks",
                "num_epochs": 1,
                "optimizer": {"type": "sgd", "lr": 0.0},
                "cuda_device": -1,
                "run_confidence_checks": False,
            }
        ),
        serialization_dir=str(folder),
        model=built,
        data_loader=loader(1),
        validation_data_loader=loader(3),
    )
    found = trainer.train()
    built.eval()
    prefix = "validation_"
    scores = {}
    for key, value in found.items():
        if key.startswith(prefix):
            scores[key.removeprefix(prefix)] = value
    return scores
