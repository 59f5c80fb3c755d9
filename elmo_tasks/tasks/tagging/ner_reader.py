"""CoNLL-2003 columns -> instances with BIOUL tags (paper, appendix A.7)."""

from typing import Any

from allennlp.data import DatasetReader

from elmo_tasks.tasks.tagging.reader import ColumnReader

CORPUS_HINT = (
    "CoNLL-2003 has its annotation from https://www.clips.uantwerpen.be/conll2003/ner/ "
    "and its text from the Reuters Corpus RCV1, on request from NIST"
)


@DatasetReader.register("elmo_tasks_ner")
class NerReader(ColumnReader):
    """The reader of columns with other defaults: the word first, its tag last, and the tags encode spans."""

    corpus_hint = CORPUS_HINT

    def __init__(self, *, tag: str | int = -1, spans: bool = True, **kwargs: Any) -> None:
        super().__init__(tag=tag, spans=spans, **kwargs)
