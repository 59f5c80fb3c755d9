"""A label for a sentence. Not in the paper."""

from elmo_tasks.tasks.task import Page, Task

TASKS = (
    Task(
        package=__name__,
        name="new_task",
        title="new_task",  # as tables name it
        metric="accuracy",  # of the model's `get_metrics`
        sample="miniworld/new_task/dev.tsv",
        page=Page("new_task", "A label for a sentence.", "verdict"),
    ),
)
