"""The softmax of a checkpoint of bilm-tf, read by TensorFlow."""

import shutil
from pathlib import Path

import numpy as np

from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.bilm.weights import write_hdf5
from elmo_tasks.errors import InputError, needs
from elmo_tasks.files import atomic_write_folder
from elmo_tasks.pretraining.export import OPTIONS_FILE, SOFTMAX_FILE, VOCABULARY_FILE, WEIGHT_FILE
from elmo_tasks.pretraining.vocabulary import WordVocabulary

SOFTMAX = {"softmax/W": "lm/softmax/W", "softmax/b": "lm/softmax/b"}
"""Datasets of `softmax.hdf5`, and bilm-tf's names of the variables."""

ACCUMULATORS = "adagrad"
"""A folder like that of an exported language model, with the sums of Adagrad in place of the weights."""

_SLOT = "/Adagrad"
_RENAMED = {
    "/rnn/multi_rnn_cell/cell_": "/RNN/MultiRNNCell/Cell",
    "/lstm_cell/projection/kernel": "/LSTMCell/W_P_0",
    "/lstm_cell/kernel": "/LSTMCell/W_0",
    "/lstm_cell/bias": "/LSTMCell/B",
}


class Checkpoint:
    """The variables of a checkpoint, such as `model.ckpt-935588`. Raises `InputError` if TensorFlow cannot read it."""

    def __init__(self, prefix: str | Path) -> None:
        with needs("tensorflow-cpu"):
            import tensorflow
        self._prefix = str(prefix).removesuffix(".index")
        self._errors = (tensorflow.errors.OpError, RuntimeError, ValueError, IndexError)
        try:
            self._reader = tensorflow.train.load_checkpoint(self._prefix)
            self.names = list(self._reader.get_variable_to_shape_map())
        except self._errors as error:
            raise InputError(f"expected a checkpoint of TensorFlow: {error}", file=self._prefix) from error

    def tensor(self, name: str) -> np.ndarray:
        """The values of a variable. Raises `InputError` if there is none, or its file is damaged."""
        if name not in self.names:
            known = ", ".join(sorted(self.names)[:20])
            raise InputError(f"expected a variable {name}; found {known}", file=self._prefix)
        try:
            return np.asarray(self._reader.get_tensor(name), np.float32)
        except self._errors as error:
            raise InputError(f"the values of {name} cannot be read: {error}", file=self._prefix) from error


def import_softmax(checkpoint: str | Path, vocabulary: str | Path, folder: str | Path) -> int:
    """
    Write `softmax.hdf5` and `vocabulary.txt` beside the `options.json` and `weights.hdf5` of a biLM that bilm-tf
    trained, so that its perplexity can be measured and it can be fine-tuned with its own softmax. Returns the number of
    words. The accumulators of Adagrad, if the checkpoint has them, are written to the folder `adagrad` there.

    `checkpoint` is the prefix of the checkpoint's files, such as `model.ckpt-935588`; `vocabulary` has the words of the
    softmax in its order; `folder` has `options.json`.

    Raises `InputError` if a file is missing or damaged, or words, softmax and options have different sizes. Nothing is
    written then.
    """
    place = Path(folder)
    words = WordVocabulary.from_file(vocabulary)
    width = BiLMOptions.from_file(place / OPTIONS_FILE).projection_dim
    opened = Checkpoint(checkpoint)
    softmax = {name: opened.tensor(variable) for name, variable in SOFTMAX.items()}
    shapes = [values.shape for values in softmax.values()]
    expected = [(len(words), width), (len(words),)]
    if shapes != expected:
        problem = f"expected the shapes {expected} (words of {vocabulary}, projection_dim), got {shapes}"
        raise InputError(problem, file=checkpoint)
    write_hdf5(softmax, place / SOFTMAX_FILE)
    words.save(place / VOCABULARY_FILE)
    sums = {_dataset(name): opened.tensor(name) for name in opened.names if name.endswith(_SLOT)}
    if sums:
        with atomic_write_folder(place / ACCUMULATORS) as aside:
            shutil.copy(place / OPTIONS_FILE, aside)
            words.save(aside / VOCABULARY_FILE)
            write_hdf5({name: sums.pop(name) for name in SOFTMAX}, aside / SOFTMAX_FILE)
            write_hdf5(sums, aside / WEIGHT_FILE)
    return len(words)


def _dataset(variable: str) -> str:
    """The dataset of the official files for a variable of bilm-tf, or for its accumulator."""
    name = variable.removeprefix("lm/").removesuffix(_SLOT)
    for old, new in _RENAMED.items():
        name = name.replace(old, new)
    return name
