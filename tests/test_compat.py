"""The remedies as a whole; one by one they are tested in `tests/compat/`."""

import sys

from allennlp.common import logging as allennlp_logging
from allennlp.training import Checkpointer

from elmo_tasks import compat


def test_applying_twice_changes_nothing() -> None:
    compat.apply()  # once more, since torch.distributed puts a hook of its own in front
    hook, prepare = sys.excepthook, allennlp_logging.prepare_global_logging
    save = Checkpointer.save_checkpoint
    compat.apply()
    assert (hook, prepare) == (sys.excepthook, allennlp_logging.prepare_global_logging)
    assert Checkpointer.save_checkpoint is save


def test_every_remedy_explains_itself() -> None:
    for remedy in compat.PATCHES:
        assert "can go" in " ".join((remedy.__doc__ or "").split()), remedy.__name__
