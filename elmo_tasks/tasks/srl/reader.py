"""
SRL reader: CoNLL-2012 columns -> an instance with BIO tags for each marked predicate
(paper, appendix A.5).
"""

import logging
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from allennlp.data import DatasetReader, Instance, Token, TokenIndexer, Vocabulary
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.ontonotes import (
    PREDICATE_LABELS,
    SKELETON_HINT,
    Frame,
    OntonotesSentence,
    read_documents,
    report_skipped,
)
from elmo_tasks.formats.annotation.spans import OUTSIDE, Span
from elmo_tasks.nn.indexers import shared_token
from elmo_tasks.settings import checked
from elmo_tasks.tasks.reader import TaskReader, tagged_fields
from elmo_tasks.tasks.skipped import SKIPPED, counted_first

logger = logging.getLogger(__name__)

PREDICATES = "predicates"
"""
The vocabulary namespace of the lower-cased words that are predicates in the training
data.
"""


@TokenIndexer.register("elmo_tasks_predicate")
class PredicateIndexer(TokenIndexer):
    """
    The predicate indicator of SRL: 2 for the predicate, 1 for other tokens, 0 for
    padding.

    The predicate is the token whose `type_id` is 1. With an embedding of three vectors,
    of which the first is unused, this is the paper's binary feature. The indexer also
    collects the predicates' words in the vocabulary, from which the predictor guesses
    predicates.
    """

    @checked
    def __init__(self) -> None:
        super().__init__()

    @overrides
    def count_vocab_items(
        self, token: Token, counter: dict[str, dict[str, int]]
    ) -> None:
        if token.type_id:
            counter[PREDICATES][token.ensure_text().lower()] += 1

    @overrides
    def tokens_to_indices(
        self, tokens: list[Token], vocabulary: Vocabulary
    ) -> dict[str, list[Any]]:
        return {"tokens": [1 + bool(token.type_id) for token in tokens]}

    @overrides
    def get_empty_token_list(self) -> dict[str, list[Any]]:
        return {"tokens": []}


@DatasetReader.register("elmo_tasks_srl")
class SrlReader(TaskReader):
    """
    Reads `*.gold_conll` and `*.v4_gold_conll` files, plain or gzip: a folder,
    recursively, or one file. Each predicate of a sentence makes an instance, whose text
    field also has the key `predicate`, its indicator. A sentence whose framesets or
    brackets are invalid is skipped with a warning, and counted in the metrics.

    # Parameters

    - `verbs_only`: if true, only predicates whose part of speech begins with V are
      kept. He et al. and AllenNLP keep all.
    - `kwargs`: see `TaskReader`.
    """

    @property
    @overrides
    def words_hint(self) -> str:
        return SKELETON_HINT

    @checked
    def __init__(self, *, verbs_only: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._verbs_only = verbs_only

    def default_indexers(self) -> dict[str, TokenIndexer]:
        return super().default_indexers() | {"predicate": PredicateIndexer()}

    @overrides
    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        """
        Raises `InputError` with file and line, if a file is invalid or no sentence has
        a predicate.
        """
        for document, sentence, frame, tags, skipped in self.shard_iterable(
            self._frames(str(file_path))
        ):
            yield self.text_to_instance(
                sentence.words,
                frame.predicate,
                tags,
                lemma=frame.lemma,
                document=document,
                file=sentence.file,
                line=sentence.line,
                skipped=skipped,
            )

    def _frames(
        self, path: str
    ) -> list[tuple[str, OntonotesSentence, Frame, list[str], int]]:
        """
        The predicates of a file, each with the key of its document, its tags, and the
        number of sentences that it counts as left out. Warns of arguments that the tags
        do not have.
        """
        kept = []
        skipped = []
        lost = 0
        for document in read_documents(path):
            for sentence in document.sentences:
                try:
                    frames = sentence.frames()
                except InputError as error:
                    skipped.append(error)
                    continue
                for frame in frames:
                    is_verb = sentence.pos[frame.predicate].startswith("V")
                    if is_verb or not self._verbs_only:
                        tags = bio_tags(frame.arguments, length=len(sentence.words))
                        kept.append((document.key, sentence, frame, tags))
                        lost += len(frame.arguments)
                        lost -= sum(tag.startswith("B-") for tag in tags)
        report_skipped(skipped, "sentences", path=path, kept=len(kept))
        if lost:
            logger.warning(
                "%s: %d arguments overlap others and are left out", path, lost
            )
        if not kept:
            problem = "expected predicates, got none"
            if self._verbs_only:
                problem += " whose part of speech begins with V"
            hint = "framesets stand in column 8, arguments in columns 12 and after; `elmo-tasks predict` takes raw text"
            raise InputError(problem, file=path, hint=hint)
        counted = counted_first(len(skipped), len(kept))
        return [(*one, count) for one, count in zip(kept, counted, strict=True)]

    def unit_of(self, instance: Instance) -> Hashable:
        """The document."""
        return instance["metadata"]["document"]

    @overrides(check_signature=False)
    def text_to_instance(
        self,
        tokens: Sequence[str],
        predicate: int,
        tags: Sequence[str] | None = None,
        *,
        lemma: str | None = None,
        document: str | None = None,
        file: str | None = None,
        line: int | None = None,
        skipped: int = 0,
    ) -> Instance:
        """
        An instance with the fields `tokens` (T tokens), `tags` (T labels in BIO, if
        given; they need not be in the vocabulary), and `metadata`, a dictionary of
        `words`, `predicate` (its index), `lemma` (by default its word in lower case),
        `tags`, `document` (its key), `file` and `line` of the sentence, None where
        unknown, and `skipped`, the number of sentences of the file that were left out
        and are counted here.

        Raises `InputError` if there is no token, `predicate` is out of range, or there
        is not one tag for each token.
        """
        words = list(tokens)
        if not 0 <= predicate < len(words):
            problem = f"expected a predicate among {len(words)} words, counted from 0"
            raise InputError(f"{problem}, got {predicate}", file=file, line=line)
        known = {
            "words": words,
            "predicate": predicate,
            "lemma": lemma or words[predicate].lower(),
            "document": document,
            SKIPPED: skipped,
        }
        marked = [shared_token(word, type_id=0) for word in words]
        marked[predicate] = shared_token(words[predicate], type_id=1)
        return Instance(tagged_fields(marked, tags, known, file=file, line=line))


def bio_tags(spans: Iterable[Span], *, length: int) -> list[str]:
    """
    Spans as BIO tags of `length` tokens. BIO cannot represent overlapping spans: of
    these, the predicate's are kept, also those inside one of its arguments, else the
    first one.
    """
    tags = [OUTSIDE] * length
    verbs_first = sorted(spans, key=lambda span: span.label not in PREDICATE_LABELS)
    for start, end, label in verbs_first:
        if set(tags[start:end]) <= {OUTSIDE}:
            tags[start:end] = [f"I-{label}"] * (end - start)
            tags[start] = f"B-{label}"
    return tags
