"""
Sentiment: Stanford Sentiment Treebank, biattentive classification network, accuracy
(paper, appendix A.8).
"""

from elmo_tasks.tasks.task import Page, Task

TASKS = (
    Task(
        package=__name__,
        name="sst",
        title="SST-5",
        metric="accuracy",
        paper=True,
        sample="sst/trees.txt",
        page=Page(
            "Sentiment",
            "How much the writer likes it.",
            "verdict",
            limits={"words": 800},
        ),
        spacy="document",
    ),
)
