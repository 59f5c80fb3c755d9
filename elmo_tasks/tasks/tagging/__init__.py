"""
A tagger for your own column data, any language, any tags, and NER, its preset (paper,
appendix A.7).
"""

from elmo_tasks.tasks.task import Page, Task

TASKS = (
    Task(
        package=__name__,
        name="ner",
        title="NER",
        metric="f1",
        paper=True,
        sample="ner/eng.bio",
        page=Page(
            "Entities",
            "Names of people, places and organisations.",
            "entities",
        ),
        spacy="sentence",
    ),
    Task(
        package=__name__,
        name="tagger",
        title="Tagger",
        metric="accuracy",
        sample="pos/train.conllu",
        page=Page(
            "Tags",
            "One tag for each word.",
            "tags",
        ),
        has_gold=False,
    ),
)
