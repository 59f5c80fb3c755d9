"""
spaCy: the task models, and ELMo vectors, as components. Entry points make their
factories known to spaCy.
"""

import logging
import shutil
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from elmo_tasks.elmo.devices import cuda_number, opened_device
from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.errors import InputError, needs
from elmo_tasks.host import load_allennlp
from elmo_tasks.system.run_names import ARCHIVE
from elmo_tasks.tasks import TASKS, task_of
from elmo_tasks.tasks.task import Task

with needs("spacy"):
    from spacy.language import Language
    from spacy.pipeline import Sentencizer
    from spacy.tokens import Doc, Span, Token
    from spacy.util import filter_spans, minibatch

logger = logging.getLogger(__name__)

Sentences = list[list[Token]]
"""The words of each."""


class TaskComponent:
    """
    A trained model: NER sets `doc.ents`, coreference `doc.spans["coref_clusters_1"]`,
    ... and `span._.cluster`, SRL `doc._.frames`, SST `doc.cats`. It reads the tokens of
    the doc that are not white space. NER, SRL and coreference read the sentences that
    an earlier component has set. Without them, a doc is one sentence for NER and SRL,
    while coreference splits it as its predictor does.

    Of overlapping entities in `doc.ents` the longest stays, even if an earlier
    component has set it; of two of the same length, the model's. A warning says once
    that one was left out.

    The `archive` is opened for the first text, and `nlp.to_disk` copies it. Raises
    `InputError` if its task has no spaCy annotation.
    """

    def __init__(self, archive: str, device: str = "cpu") -> None:
        self.archive = archive
        self.device = device
        self._warned = False
        Doc.set_extension("frames", default=None, force=True)
        Span.set_extension("cluster", default=None, force=True)

    @cached_property
    def predictor(self) -> Any:
        load_allennlp()
        import elmo_tasks.plugin  # noqa: F401
        from elmo_tasks.training.archives.loading import load_archive
        from elmo_tasks.training.archives.predictors import predictor_of

        number = cuda_number(opened_device(self.device))
        return predictor_of(load_archive(self.archive, cuda_device=number))

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 32) -> Iterator[Doc]:
        """
        Annotates docs, a batch at a time, with what the model predicts for their words.
        """
        task = task_of(self.predictor)
        if task is None or task.spacy is None:
            known = [task.title for task in TASKS.values() if task.spacy]
            found = type(self.predictor).__name__
            raise InputError(
                f"expected a model of {', '.join(known)}, got a {found}",
                file=self.archive,
            )
        for docs in minibatch(stream, batch_size):
            units = [_units(doc, task) for doc in docs]
            inputs = [_input(unit, task) for unit in chain.from_iterable(units)]
            outputs: Iterator[Any] = iter(())
            if inputs:
                outputs = iter(self.predictor.predict_batch_json(inputs))
            for doc, units_of_doc in zip(docs, units, strict=True):
                answers = []
                for unit in units_of_doc:
                    words = list(chain.from_iterable(unit))
                    answers.append(_in_doc(doc, words, next(outputs)))
                self._set(doc, task, answers)
            yield from docs

    def _set(self, doc: Doc, task: Task, answers: list[dict[str, Any]]) -> None:
        """Sets what a model predicts for a doc, or for each of its sentences."""
        if task.name == "ner":
            self._set_entities(doc, _joined(answers, "entities"))
        elif task.name == "srl":
            doc._.frames = _joined(answers, "frames")
        elif task.name == "coref":
            clusters = _joined(answers, "clusters")
            for number, mentions in enumerate(clusters, start=1):
                name = f"coref_clusters_{number}"
                doc.spans[name] = [_span(doc, mention, name) for mention in mentions]
                for mention in doc.spans[name]:
                    mention._.cluster = number
        else:
            for answer in answers:
                doc.cats.update(answer["probabilities"])

    def _set_entities(self, doc: Doc, entities: list[dict[str, Any]]) -> None:
        spans = [_span(doc, entity, entity["type"]) for entity in entities]
        spans += doc.ents
        chosen = filter_spans(spans)
        doc.set_ents(chosen)
        left_out = set(spans).difference(chosen)
        if left_out and not self._warned:
            self._warned = True
            first = min(left_out, key=spans.index)
            logger.warning(
                "%r (%s) is not in doc.ents, which has the longest of overlapping"
                " entities, of this and earlier components",
                first.text,
                first.label_,
            )

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
    Sets `doc.tensor`, float32 [T, 2P], with zeros for white space. The biLM reads the
    sentences that an earlier component has set, or else the doc as one.

    spaCy's `vector` of a token, a span and a doc comes from `doc.tensor` unless the
    pipeline has static vectors; a warning says once if it has. Raises `InputError` if
    `layers` is `all`.
    """

    def __init__(self, elmo: Elmo, layers: str | int) -> None:
        if layers == "all":
            raise InputError("layers: expected vectors [T, 2P], got all layers")
        self.elmo = elmo
        self.layers = layers
        self._warned = False

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        for docs in minibatch(stream, batch_size):
            sentences = [sentences_of(doc) for doc in docs]
            texts = [_texts(words) for words in chain.from_iterable(sentences)]
            vectors = iter(self.elmo.embed(texts, layers=self.layers))
            for doc, sentences_of_doc in zip(docs, sentences, strict=True):
                tensor = np.zeros((len(doc), self.elmo.dimension), np.float32)
                for words in sentences_of_doc:
                    tensor[[word.i for word in words]] = next(vectors)
                self._set(doc, tensor)
            yield from docs

    def _set(self, doc: Doc, tensor: Any) -> None:
        doc.tensor = tensor
        # spaCy keeps the mean of an earlier component's tensor.
        doc.vector = doc.vector_norm = None
        if doc.vocab.vectors.size and not self._warned:
            self._warned = True
            logger.warning(
                "the pipeline has static vectors, which spaCy returns as `vector` of a"
                " token, a span or a doc; `tensor` is the one of ELMo"
            )


def sentences_of(doc: Doc) -> Sentences:
    """
    The words of each sentence, or of the doc if no sentences are set. White space is
    not a word, and a sentence of nothing else is left out.
    """
    sentences: Iterable[Span] = [doc[:]]
    if doc.has_annotation("SENT_START"):
        sentences = doc.sents
    found = []
    for sentence in sentences:
        words = [token for token in sentence if not token.text.isspace()]
        if words:
            found.append(words)
    return found


def _texts(words: Iterable[Token]) -> list[str]:
    return [word.text for word in words]


def _units(doc: Doc, task: Task) -> list[Sentences]:
    """The sentences that a model reads at once: one by one, or those of a doc."""
    sentences = sentences_of(doc)
    if task.spacy == "sentence":
        return [[words] for words in sentences]
    if task.name == "coref" and not doc.has_annotation("SENT_START"):
        from elmo_tasks.tasks.coref.predictor import split_sentences

        sentences = split_sentences(Sentencizer()(doc.copy()))
    return [sentences] if sentences else []


def _input(sentences: Sentences, task: Task) -> dict[str, Any]:
    """The words of these sentences, as the predictor takes them."""
    _, key = task.input.either
    if key == "sentences":
        return {key: [_texts(words) for words in sentences]}
    return {key: _texts(chain.from_iterable(sentences))}


def _in_doc(doc: Doc, words: list[Token], answer: Any) -> Any:
    """
    What a predictor says of these `words`, with the indices of the doc's tokens in
    place of the numbers of words, and with characters.
    """
    if isinstance(answer, list):
        return [_in_doc(doc, words, part) for part in answer]
    if not isinstance(answer, dict):
        return answer
    found = {key: _in_doc(doc, words, part) for key, part in answer.items()}
    if "predicate" in found:
        found["predicate"] = words[found["predicate"]].i
    if "token_start" in found:
        first, last = words[found["token_start"]], words[found["token_end"] - 1]
        span = doc[first.i : last.i + 1]
        found |= {"text": span.text, "token_start": span.start, "token_end": span.end}
        found |= {"start": span.start_char, "end": span.end_char}
    return found


def _joined(answers: list[dict[str, Any]], key: str) -> list[Any]:
    return list(chain.from_iterable(answer[key] for answer in answers))


def _span(doc: Doc, stretch: dict[str, Any], label: str) -> Span:
    return Span(doc, stretch["token_start"], stretch["token_end"], label)


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
