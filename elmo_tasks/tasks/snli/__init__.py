"""Textual entailment: SNLI pairs, the ESIM sequence model, accuracy (paper, appendix A.3)."""

from elmo_tasks.formats.corpora import STANFORD, DataFile
from elmo_tasks.tasks.task import Page, Task


def _file(split: str) -> DataFile:
    name = f"snli_1.0_{split}.jsonl"
    official = (f"snli/snli_1.0/{name}", f"snli_1.0/{name}")
    return DataFile(f"snli/{name}", official, f"{STANFORD}/projects/snli/snli_1.0.zip")


TASKS = (
    Task(
        package=__name__,
        name="snli",
        title="SNLI",
        metric="accuracy",
        paper=(88.0, {"mean": 88.7, "deviation": 0.17}),
        minutes=((1.2, 3), (9, 12)),
        files=(_file("train"), _file("dev"), _file("test")),
        sample="snli/snli_1.0_train.jsonl",
        page=Page(
            "Entailment",
            "Does the hypothesis follow from the premise?",
            "attention",
            (("premise", "Premise", 2), ("hypothesis", "Hypothesis", 2)),
        ),
    ),
)
