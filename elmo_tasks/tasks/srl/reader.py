"""SRL reader: CoNLL-2012 columns -> an instance with BIO tags for each predicate (paper, appendix A.5)."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional

from allennlp.data import DatasetReader, Field, Instance, TokenIndexer
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import MetadataField, TextField

from elmo_tasks.errors import InputError
from elmo_tasks.formats.ontonotes import Frame, OntonotesSentence, Skipped, find_files, read_documents
from elmo_tasks.formats.spans import OUTSIDE, Span
from elmo_tasks.nn.elmo_indexer import CharacterIndexer
from elmo_tasks.nn.word_indexer import WordIndexer
from elmo_tasks.tasks.labels import OpenSequenceLabelField
from elmo_tasks.tasks.srl.indexer import PredicateIndexer, mark_predicate

logger = logging.getLogger(__name__)


@DatasetReader.register("elmo_tasks_srl")
class SrlReader(DatasetReader):
    """
    Reads `*.gold_conll` and `*.v4_gold_conll` files, plain or gzip: a folder, recursively, a glob pattern, or one file.
    Each predicate of a sentence makes an instance.

    # Parameters

    - `token_indexers`: by default `tokens` (word ids), `predicate` (the predicate indicator) and `elmo` (the biLM's
      characters).
    - `verbs_only`: whether to keep only predicates whose part of speech begins with V. He et al. and AllenNLP keep all.
    - `strict`: whether a sentence whose framesets or brackets are invalid is an error. By default it is skipped with a
      warning.
    """

    def __init__(
        self,
        *,
        token_indexers: Optional[dict[str, TokenIndexer]] = None,
        verbs_only: bool = True,
        strict: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(manual_distributed_sharding=True, manual_multiprocess_sharding=True, **kwargs)
        self._token_indexers = token_indexers or _default_indexers()
        self._verbs_only, self._strict = verbs_only, strict

    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        """Raises `InputError` with file and line, if a file is invalid or no sentence has a predicate."""
        frames = list(self._frames(str(file_path)))
        for sentence, frame in self.shard_iterable(frames):
            yield self._instance(sentence, frame)

    def _frames(self, path: str) -> Iterator[tuple[OntonotesSentence, Frame]]:
        sentences = taken = left = 0
        skipped = Skipped("sentences", strict=self._strict)
        for file in find_files(path):
            for document in read_documents(file):
                for sentence in document.sentences:
                    try:
                        frames = sentence.frames()
                    except InputError as error:
                        skipped.add(error)
                        continue
                    kept = [frame for frame in frames if self._is_kept(sentence, frame)]
                    sentences, taken, left = sentences + 1, taken + len(kept), left + len(frames) - len(kept)
                    yield from ((sentence, frame) for frame in kept)
        skipped.report(path, taken)
        if not taken:
            if left:
                hint = "set verbs_only to false to read them all"
                raise InputError(f"none of the {left} predicates is a verb", file=path, hint=hint)
            hint = "framesets stand in column 8, arguments in columns 12 and after; `elmo-tasks predict` takes raw text"
            raise InputError("no predicate found", file=path, hint=hint)
        logger.info("%s: %d sentences, %d predicates, %d left out", path, sentences, taken, left)

    def _is_kept(self, sentence: OntonotesSentence, frame: Frame) -> bool:
        return not self._verbs_only or sentence.pos[frame.predicate].startswith("V")

    def _instance(self, sentence: OntonotesSentence, frame: Frame) -> Instance:
        return self.text_to_instance(
            sentence.words,
            frame.predicate,
            bio_tags(frame.arguments, length=len(sentence.words)),
            lemma=frame.lemma,
            file=sentence.file,
            line=sentence.line,
        )

    def text_to_instance(
        self,
        tokens: Sequence[str],
        predicate: int,
        tags: Sequence[str] | None = None,
        *,
        lemma: str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> Instance:
        """
        An instance with the fields `tokens` (T tokens), `tags` (T labels in BIO, if given; they need not be in the
        vocabulary), and `metadata`, a dictionary of `words`, `predicate` (its index), `lemma` (by default its word in
        lower case), `tags`, and `file` and `line` of the sentence, None where unknown.

        Raises `InputError` if there is no token, `predicate` is out of range, or there is not one tag for each token.
        """
        words = list(tokens)
        if not words:
            raise InputError("expected at least one token, got an empty sentence", file=file, line=line)
        if not 0 <= predicate < len(words):
            raise InputError(f"expected a predicate from 0 to {len(words) - 1}, got {predicate}", file=file, line=line)
        gold = None if tags is None else list(tags)
        if gold is not None and len(gold) != len(words):
            raise InputError(f"expected {len(words)} tags, got {len(gold)}", file=file, line=line)
        text = TextField(mark_predicate(words, predicate))
        known = {"lemma": lemma or words[predicate].lower(), "tags": gold, "file": file, "line": line}
        metadata = MetadataField({"words": words, "predicate": predicate, **known})
        fields: dict[str, Field] = {"tokens": text, "metadata": metadata}
        if gold is not None:
            fields["tags"] = OpenSequenceLabelField(gold, text, label_namespace="labels")
        return Instance(fields)

    def apply_token_indexers(self, instance: Instance) -> None:
        """Sets the token indexers, which are not sent between processes."""
        instance.fields["tokens"].token_indexers = self._token_indexers


def bio_tags(spans: Iterable[Span], *, length: int) -> list[str]:
    """
    Spans as BIO tags of `length` tokens. Of overlapping spans, which BIO cannot represent, the first one is kept.
    """
    tags = [OUTSIDE] * length
    for start, end, label in spans:
        if all(tag == OUTSIDE for tag in tags[start:end]):
            tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tags


def _default_indexers() -> dict[str, TokenIndexer]:
    return {"tokens": WordIndexer(), "predicate": PredicateIndexer(), "elmo": CharacterIndexer()}
