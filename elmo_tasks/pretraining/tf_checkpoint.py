"""The softmax of a checkpoint of bilm-tf, read by TensorFlow."""

import shutil
from pathlib import Path

import numpy as np

from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.errors import InputError, needs
from elmo_tasks.files import atomic_write_folder
from elmo_tasks.formats.hdf5 import write_hdf5
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
    variables = _variables(str(checkpoint).removesuffix(".index"))
    softmax = {name: variables.pop(variable) for name, variable in SOFTMAX.items() if variable in variables}
    shapes = {SOFTMAX[name]: values.shape for name, values in softmax.items()}
    expected = dict(zip(SOFTMAX.values(), [(len(words), width), (len(words),)], strict=True))
    if shapes != expected:
        problem = f"expected the shapes {expected} (words of {vocabulary}, projection_dim), got {shapes}"
        raise InputError(problem, file=checkpoint)
    write_hdf5(softmax, place / SOFTMAX_FILE)
    words.save(place / VOCABULARY_FILE)
    if variables:
        sums = {_dataset(name): values for name, values in variables.items()}
        with atomic_write_folder(place / ACCUMULATORS) as aside:
            shutil.copy(place / OPTIONS_FILE, aside)
            words.save(aside / VOCABULARY_FILE)
            write_hdf5({name: sums.pop(name) for name in SOFTMAX}, aside / SOFTMAX_FILE)
            write_hdf5(sums, aside / WEIGHT_FILE)
    return len(words)


def _variables(prefix: str) -> dict[str, np.ndarray]:
    """The softmax of a checkpoint and the accumulators of Adagrad. Raises `InputError` if TensorFlow cannot read it."""
    with needs("tensorflow-cpu"):
        import tensorflow
    try:
        reader = tensorflow.train.load_checkpoint(prefix)
        names = [n for n in reader.get_variable_to_shape_map() if n in SOFTMAX.values() or n.endswith(_SLOT)]
        return {name: np.asarray(reader.get_tensor(name), np.float32) for name in names}
    except (tensorflow.errors.OpError, RuntimeError, ValueError, IndexError) as error:
        raise InputError(f"expected a checkpoint of TensorFlow: {error}", file=prefix) from error


def _dataset(variable: str) -> str:
    """The dataset of the official files for a variable of bilm-tf, or for its accumulator."""
    name = variable.removeprefix("lm/").removesuffix(_SLOT)
    for old, new in _RENAMED.items():
        name = name.replace(old, new)
    return name
