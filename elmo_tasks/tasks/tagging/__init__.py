"""A tagger for your own column data, any language, any tags, and NER, its preset (paper, appendix A.7)."""

from elmo_tasks.formats.corpora import DataFile
from elmo_tasks.tasks.task import Page, Task


def _file(name: str) -> DataFile:
    source = "CoNLL-2003 (https://www.clips.uantwerpen.be/conll2003/ner/) with RCV1 from https://trec.nist.gov/data/reuters"
    return DataFile(f"ner/{name}", (f"ner/{name}.txt", f"conll2003/{name}"), source)


TASKS = (
    Task(
        package=__name__,
        name="ner",
        title="NER",
        metric="f1",
        paper=(90.15, {"mean": 92.22, "deviation": 0.10}),
        minutes=((0.7, 2), (3.5, 8)),
        files=(_file("eng.train"), _file("eng.testa"), _file("eng.testb")),
        sample="ner/eng.bio",
        page=Page("Entities", "Names of people, places and organisations.", "entities"),
        spacy="sentence",
    ),
    Task(
        package=__name__,
        name="tagger",
        title="Tagger",
        metric="accuracy",
        sample="pos/train.conllu",
        page=Page("Tags", "One tag for each word.", "tags"),
    ),
)
