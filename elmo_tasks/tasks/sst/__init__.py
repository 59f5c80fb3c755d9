"""Sentiment: Stanford Sentiment Treebank, biattentive classification network, accuracy (paper, appendix A.8)."""

from elmo_tasks.formats.corpora import STANFORD, DataFile
from elmo_tasks.tasks.task import Page, Task


def _file(split: str) -> DataFile:
    archive = f"{STANFORD}/sentiment/trainDevTestTrees_PTB.zip"
    return DataFile(
        f"sst/{split}.txt", (f"sst/trees/{split}.txt", f"trees/{split}.txt"), archive
    )


TASKS = (
    Task(
        package=__name__,
        name="sst",
        title="SST-5",
        metric="accuracy",
        paper=(51.4, {"mean": 54.7, "deviation": 0.5}),
        minutes=((0.7, 1.2), (9, 15)),
        files=(_file("train"), _file("dev"), _file("test")),
        sample="sst/trees.txt",
        page=Page("Sentiment", "How much the writer likes it.", "verdict"),
        spacy="document",
    ),
)
