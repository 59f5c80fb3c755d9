"""What fine-tuning starts from: a biLM with its softmax, or one published without (paper, appendix A.1)."""

import logging
import math
from pathlib import Path
from typing import NamedTuple

import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.locations import is_whole_model
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import SOFTMAX_FILE, load_trained
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary

logger = logging.getLogger(__name__)

FILE_KEYS = {"options_file", "weight_file"}


class Checkpoint(NamedTuple):
    """A biLM, and its softmax with the vocabulary if they are known."""

    bilm: BiLM
    softmax: OutputSoftmax | None = None
    vocabulary: WordVocabulary | None = None

    @classmethod
    def load(cls, source: str | dict[str, str]) -> "Checkpoint":
        """
        Load the folder of an `elmo-tasks train` run, its archive, an exported folder, a whole model published elsewhere
        (see `bilm_file`; without a softmax), or an object of `options_file` and `weight_file`.

        Raises `InputError` if there is no biLM, or only half of a softmax.
        """
        if isinstance(source, dict):
            if source.keys() != FILE_KEYS:
                raise InputError(
                    f"expected bilm with {' and '.join(sorted(FILE_KEYS))}, got {', '.join(sorted(source))}"
                )
            return cls(BiLM.from_files(source["options_file"], source["weight_file"]))
        folder = Path(str(source))
        ours = any((folder / name).is_file() for name in ("config.json", SOFTMAX_FILE))
        if not ours and is_whole_model(source):
            return cls(BiLM.from_files(source, source))
        trained = load_trained(folder)
        return cls(trained.model.bilm, trained.model.softmax, trained.vocabulary)

    @torch.no_grad()
    def fill_softmax(self, softmax: OutputSoftmax, words: WordVocabulary) -> bool:
        """
        Copy the rows of this softmax into a new one: for words in both vocabularies their row, for new words the row of
        `<UNK>`. `<UNK>` and the new words share its probability equally, so that the other words keep theirs.
        Nothing is copied if there is no softmax. New words are logged. Returns whether both vocabularies are equal.
        """
        if self.softmax is None or self.vocabulary is None:
            logger.warning("the biLM has no softmax: initializing one for %s words at random", f"{len(words):,}")
            return False
        rows = torch.tensor([self.vocabulary.id(word) for word in words.words])  # [V], ids in the old softmax
        softmax.weight.copy_(self.softmax.weight[rows])
        softmax.bias.copy_(self.softmax.bias[rows])
        if words.words == self.vocabulary.words:
            return True
        new = sum(word not in self.vocabulary.ids for word in words.words)
        softmax.bias[rows == UNKNOWN] -= math.log(new + 1)
        counts = f"{len(words):,} words instead of {len(self.vocabulary):,}"
        logger.warning("new softmax: %s; %s unseen words start as <UNK>", counts, f"{new:,}")
        return False
