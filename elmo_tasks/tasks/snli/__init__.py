"""
Textual entailment: SNLI pairs, the ESIM sequence model, accuracy (paper, appendix A.3).
"""

from elmo_tasks.tasks.task import Page, Task

TASKS = (
    Task(
        package=__name__,
        name="snli",
        title="SNLI",
        metric="accuracy",
        paper=True,
        sample="snli/snli_1.0_train.jsonl",
        page=Page(
            "Entailment",
            "Does the hypothesis follow from the premise?",
            "attention",
            limits={"words": 1000},
            attention=40,
        ),
    ),
)
