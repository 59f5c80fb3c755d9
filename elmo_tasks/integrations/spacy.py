"""
spaCy: the task models, and ELMo vectors, as components. Entry points make their
factories known to spaCy.
"""

import shutil
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from elmo_tasks.elmo.devices import cuda_number, opened_device
from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.errors import InputError, needs
from elmo_tasks.host import load_allennlp
from elmo_tasks.system.run_names import ARCHIVE
from elmo_tasks.tasks import TASKS, task_of

with needs("spacy"):
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token
    from spacy.util import filter_spans, minibatch


class TaskComponent:
    """
    A trained model: NER sets `doc.ents`, coreference `doc.spans["coref_clusters_1"]`,
    ... and `span._.cluster`, SRL `doc._.frames`, SST `doc.cats`. NER and SRL process
    one sentence at a time if an earlier component has set sentences.

    The `archive` is opened for the first text, and `nlp.to_disk` copies it. Raises
    `InputError` if its task has no spaCy annotation.
    """

    def __init__(self, archive: str, device: str = "cpu") -> None:
        self.archive = archive
        self.device = device
        Doc.set_extension("frames", default=None, force=True)
        Span.set_extension("cluster", default=None, force=True)

    @cached_property
    def predictor(self) -> Any:
        load_allennlp()
        import elmo_tasks.plugin  # noqa: F401
        from elmo_tasks.training.archives.loading import load_archive
        from elmo_tasks.training.archives.predictors import predictor_of

        number = cuda_number(opened_device(self.device))
        archive = load_archive(self.archive, cuda_device=number)
        return predictor_of(archive)

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 32) -> Iterator[Doc]:
        """
        Annotates docs, a batch at a time, with what the model predicts for the raw
        text.
        """
        task = task_of(self.predictor)
        if task is None or task.spacy is None:
            known = [task.title for task in TASKS.values() if task.spacy]
            found = type(self.predictor).__name__
            raise InputError(
                f"expected a model of {', '.join(known)}, got a {found}",
                file=self.archive,
            )
        whole = task.spacy == "document"
        key, _ = task.input.boxes()[0]
        for docs in minibatch(stream, batch_size):
            units: list[Span] = []
            for doc in docs:
                units.extend(_units(doc, whole))
            if units:
                inputs = [{key: unit.text} for unit in units]
                outputs = self.predictor.predict_batch_json(inputs)
                for unit, output in zip(units, outputs, strict=True):
                    _set_output(unit, output)
            yield from docs

    def to_disk(self, path: Path, exclude: Iterable[str] = ()) -> None:
        path.mkdir(parents=True, exist_ok=True)
        archive = Path(self.archive)
        if archive.is_dir():  # a run's
            archive = archive / ARCHIVE
        shutil.copyfile(archive, path / ARCHIVE)

    def from_disk(self, path: Path, exclude: Iterable[str] = ()) -> None:
        self.archive = str(path / ARCHIVE)

    def __reduce__(self) -> Any:
        return type(self), (self.archive, self.device)


class VectorComponent:
    """
    Sets `doc.tensor`, float32 [T, 2P], and `token.vector`, a row of it. Raises
    `InputError` if `layers` is `all`.
    """

    def __init__(self, elmo: Elmo, layers: str | int) -> None:
        if layers == "all":
            raise InputError("layers: expected vectors [T, 2P], got all layers")
        self.elmo = elmo
        self.layers = layers

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        for docs in minibatch(stream, batch_size):
            words = []
            for doc in docs:
                words.append([token.text for token in doc])
            vectors = self.elmo.embed(words, layers=self.layers)
            for doc, array in zip(docs, vectors, strict=True):
                doc.tensor = array
                doc.user_token_hooks["vector"] = _row_of
            yield from docs


def _row_of(token: Token) -> Any:
    """The vector of a token: its row of `doc.tensor`."""
    return token.doc.tensor[token.i]


def _units(doc: Doc, whole: bool) -> list[Span]:
    """
    The texts of a doc that a model takes one by one: the whole, or each of its
    sentences, if they are known.
    """
    units = [doc[:]]
    if not whole and doc.has_annotation("SENT_START"):
        units = list(doc.sents)
    return [unit for unit in units if unit.text.strip()]


def _set_output(unit: Span, output: dict[str, Any]) -> None:
    """Sets what a model predicts for the text of `unit`."""
    doc = unit.doc
    if "entities" in output:
        entities = [
            _span(unit, entity, entity["type"]) for entity in output["entities"]
        ]
        doc.set_ents(filter_spans(entities + list(doc.ents)))
    elif "clusters" in output:
        for number, mentions in enumerate(output["clusters"], start=1):
            name = f"coref_clusters_{number}"
            doc.spans[name] = [_span(unit, mention, name) for mention in mentions]
            for mention in doc.spans[name]:
                mention._.cluster = number
    elif "frames" in output:
        for frame in output["frames"]:
            for argument in frame["arguments"]:
                argument["start"] += unit.start_char
                argument["end"] += unit.start_char
        doc._.frames = (doc._.frames or []) + output["frames"]
    else:
        doc.cats.update(output["probabilities"])


def _span(unit: Span, stretch: dict[str, Any], label: str) -> Span:
    """The words of the doc over characters of `unit`."""
    return unit.doc.char_span(
        stretch["start"] + unit.start_char,
        stretch["end"] + unit.start_char,
        label=label,
        alignment_mode="expand",
    )


@Language.factory("elmo_tasks", default_config={"device": "cpu"})
def make_task(nlp: Language, name: str, archive: str, device: str) -> TaskComponent:
    """
    The component `elmo_tasks`, which predicts with a trained model:
    `nlp.add_pipe("elmo_tasks", config={"archive": "model.tar.gz"})`. A saved pipeline
    contains a copy of the archive. It predicts on the CPU unless `device` names another
    device.
    """
    is_loaded = name in nlp._meta.get("components", ())
    if not is_loaded and not Path(archive).exists():
        raise InputError("the archive does not exist", file=archive)
    return TaskComponent(archive, device)


@Language.factory(
    "elmo_tasks_vectors",
    default_config={"model": None, "layers": "average", "settings": {}},
)
def make_vectors(
    nlp: Language,
    name: str,
    model: str | None,
    layers: str | int,
    settings: dict[str, Any],
) -> VectorComponent:
    """
    The component `elmo_tasks_vectors`, which sets `doc.tensor`, float32 [T, 2P]:
    `nlp.add_pipe("elmo_tasks_vectors", config={"model": ...})`. It takes the arguments
    of `Elmo.from_pretrained`, but runs on the CPU by default: spaCy's processes cannot
    share a GPU that their parent has opened.
    """
    chosen: dict[str, Any] = {"device": "cpu"} | settings
    return VectorComponent(Elmo.from_pretrained(model, **chosen), layers)
