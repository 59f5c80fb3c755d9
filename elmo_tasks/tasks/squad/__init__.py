"""
Question answering: SQuAD v1.1, bidirectional attention and self-attention, EM and F1
(paper, appendix A.4).
"""

from elmo_tasks.tasks.task import Page, Task

TASKS = (
    Task(
        package=__name__,
        name="squad",
        title="SQuAD",
        metric="f1",
        paper=True,
        sample="squad/train-v1.1.json",
        page=Page(
            "Questions",
            "The answer is a span of the passage.",
            "answer",
            limits={"words": 1000},
        ),
    ),
)
