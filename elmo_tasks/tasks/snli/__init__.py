"""Textual entailment: SNLI pairs, the ESIM sequence model, accuracy (paper, appendix A.3)."""

from elmo_tasks.formats.corpora import STANFORD, DataFile, Download
from elmo_tasks.tasks.task import Page, Task


def _file(split: str, count: int) -> DataFile:
    name = f"snli_1.0_{split}.jsonl"
    archive = Download(
        f"{STANFORD}/projects/snli/snli_1.0.zip",
        94_550_081,
        "afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
    )
    return DataFile(f"snli/{name}", (f"snli/snli_1.0/{name}", f"snli_1.0/{name}"), "pairs", count, archive)


TASKS = (
    Task(
        package=__name__,
        name="snli",
        title="SNLI",
        metric="accuracy",
        paper=(88.0, {"mean": 88.7, "deviation": 0.17}),
        minutes=((1.2, 3), (9, 12)),
        files=(_file("train", 549_367), _file("dev", 9_842), _file("test", 9_824)),
        sample="snli/snli_1.0_train.jsonl",
        page=Page(
            "Entailment",
            "Does the hypothesis follow from the premise?",
            "attention",
            (("premise", "Premise", 2), ("hypothesis", "Hypothesis", 2)),
        ),
    ),
)
