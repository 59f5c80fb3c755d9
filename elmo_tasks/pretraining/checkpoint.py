"""What fine-tuning begins with: a biLM of ours with its softmax, or one of others without (paper, appendix A.1)."""

import logging
import math
from pathlib import Path
from typing import Any, NamedTuple

import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import OPTIONS_FILE, SOFTMAX_FILE, WEIGHT_FILE, load_trained
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary

logger = logging.getLogger(__name__)

FILE_KEYS = {"options_file", "weight_file"}


class Start(NamedTuple):
    """
    # Parameters

    bilm : `BiLM`
    softmax : `OutputSoftmax`, optional
    vocabulary : `WordVocabulary`, optional
        The words of the softmax.
    """

    bilm: BiLM
    softmax: OutputSoftmax | None = None
    vocabulary: WordVocabulary | None = None

    @classmethod
    def of(cls, place: Any) -> "Start":
        """
        # Parameters

        place : `str` or `dict`
            A run of `allennlp train`, its archive, an exported folder (or one without `softmax.hdf5`, as others
            publish theirs), or an object of `options_file` and `weight_file`.

        # Raises

        `InputError`
            If there is no biLM, or half of a softmax.
        """
        if isinstance(place, dict):
            if set(place) != FILE_KEYS:
                raise InputError(f"bilm needs {' and '.join(sorted(FILE_KEYS))}, found {', '.join(sorted(place))}")
            return cls(BiLM.from_files(**place))
        folder = Path(str(place))
        if _is_foreign(folder):
            return cls(BiLM.from_files(folder / OPTIONS_FILE, folder / WEIGHT_FILE))
        trained = load_trained(folder)
        return cls(trained.model.bilm, trained.model.softmax, trained.vocabulary)

    @torch.no_grad()
    def fill_softmax(self, softmax: OutputSoftmax, words: WordVocabulary) -> bool:
        """
        Copy what this softmax knows into a new one: the rows of the words that both have, and the row of `<UNK>` for
        each new word. `<UNK>` and the new words share the probability of `<UNK>` equally, so that the probabilities
        of the other words stay as they were. Nothing is copied where there is no softmax. New words are logged.

        # Returns

        `bool`
            Whether both have the same words.
        """
        if self.softmax is None or self.vocabulary is None:
            logger.warning("the biLM has no softmax: a new one for %s words begins at random", f"{len(words):,}")
            return False
        rows = torch.tensor([self.vocabulary.id(word) for word in words.words])  # [V], ids in the old softmax
        softmax.weight.copy_(self.softmax.weight[rows])
        softmax.bias.copy_(self.softmax.bias[rows])
        if words.words == self.vocabulary.words:
            return True
        new = sum(word not in self.vocabulary.ids for word in words.words)
        softmax.bias[rows == UNKNOWN] -= math.log(new + 1)
        logger.warning(
            "new softmax: %s words in place of %s; %s that the biLM has not seen begin as <UNK>",
            f"{len(words):,}",
            f"{len(self.vocabulary):,}",
            f"{new:,}",
        )
        return False


def _is_foreign(folder: Path) -> bool:
    """Whether a folder has a biLM and nothing of its softmax or its training."""
    ours = any((folder / name).is_file() for name in ("config.json", SOFTMAX_FILE))
    return not ours and all((folder / name).is_file() for name in (OPTIONS_FILE, WEIGHT_FILE))
