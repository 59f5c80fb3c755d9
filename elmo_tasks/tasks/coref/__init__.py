"""
Coreference (paper, appendix A.6; Lee et al., 2017): documents -> spans -> antecedents
-> clusters.
"""

from elmo_tasks.tasks.task import Page, Task

TASKS = (
    Task(
        package=__name__,
        name="coref",
        title="Coref",
        metric="f1",
        paper=True,
        sample="coref/stories.gold_conll",
        page=Page(
            "Coreference",
            "Mentions of the same person or thing share a colour and a number.",
            "clusters",
            limits={
                "words": 1000,
                "sentences": 150,
                "sentences times words of the longest": 4000,
            },
        ),
        spacy="document",
    ),
)
