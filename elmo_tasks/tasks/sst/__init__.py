"""Sentiment: Stanford Sentiment Treebank, biattentive classification network, accuracy (paper, appendix A.8)."""

from elmo_tasks.formats.corpora import STANFORD, DataFile, Download
from elmo_tasks.tasks.task import Page, Task


def _file(split: str, count: int) -> DataFile:
    archive = Download(
        f"{STANFORD}/sentiment/trainDevTestTrees_PTB.zip",
        789_539,
        "5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc",
    )
    return DataFile(f"sst/{split}.txt", (f"sst/trees/{split}.txt", f"trees/{split}.txt"), "trees", count, archive)


TASKS = (
    Task(
        package=__name__,
        name="sst",
        title="SST-5",
        metric="accuracy",
        paper=(51.4, {"mean": 54.7, "deviation": 0.5}),
        minutes=((0.7, 1.2), (9, 15)),
        files=(_file("train", 8_544), _file("dev", 1_101), _file("test", 2_210)),
        sample="sst/trees.txt",
        page=Page("Sentiment", "How much the writer likes it.", "verdict"),
        spacy="document",
    ),
)
