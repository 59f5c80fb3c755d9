"""
The position of a training run in its data, and the state of the random number
generators, on which the order of the data depends.
"""

import random
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy
import torch
from allennlp.data import Instance, Vocabulary
from allennlp.data.data_loaders import DataLoader, MultiProcessDataLoader
from overrides import overrides

from elmo_tasks.errors import InputError


@runtime_checkable
class Resumable(Protocol):
    """A data loader that can save and restore its position."""

    def position(self) -> dict[str, Any]:
        """The position between two batches: plain data for a checkpoint."""

    def resume(self, position: dict[str, Any], *, batches: int) -> None:
        """
        Continue at `position`, after `batches` batches of an epoch, which are empty
        when iterated over again.
        """


class Passes(DataLoader):
    """
    The batches of AllenNLP's data loader, with a position.

    The order of a pass over the data depends on the random state at its start, so that
    this state and a count are the position; for data read in pieces
    (`max_instances_in_memory`), also the state wherever others, such as validation,
    have drawn random numbers in between. Resuming repeats the pass up to the position,
    but no earlier epochs. With `batches_per_epoch`, an epoch continues the pass of the
    previous one.

    # Parameters

    - `loader`: with several `num_workers` the order of instances is not reproducible.
    """

    def __init__(self, loader: MultiProcessDataLoader) -> None:
        self.loader = loader
        self._in_pieces = loader.max_instances_in_memory is not None
        self._pass: Iterator[Any] | None = None
        self._taken = 0
        self._states: list[tuple[int, dict[str, Any]]] = []
        self._last_state: dict[str, Any] | None = None
        self._to_skip = 0

    @overrides
    def __len__(self) -> int:
        return len(self.loader)

    @overrides
    def __iter__(self) -> Iterator[Any]:
        skipped = self._to_skip
        self._to_skip = 0
        for _ in range(skipped):
            yield {}
        if self.loader.batches_per_epoch is None:
            if not skipped:
                self._pass = None
            batch = self._next()
            while batch is not None:
                yield batch
                batch = self._next()
            return
        for _ in range(self.loader.batches_per_epoch - skipped):
            batch = self._next()
            if batch is None:
                batch = self._next()  # of a new pass
            if batch is None:
                raise InputError(f"no batch in {self.loader.data_path}")
            yield batch

    def position(self) -> dict[str, Any]:
        """
        The number of batches taken from this pass, and random states by the batch that
        they precede.
        """
        return {"taken": self._taken, "drawn": list(self._states)}

    def resume(self, position: dict[str, Any], *, batches: int) -> None:
        """
        Continue from `position()`; the random state must be restored afterwards.

        Raises `InputError` if the pass is now shorter: the data have changed.
        """
        self._to_skip = batches
        states = dict(position["drawn"])
        self._pass = None
        for number in range(position["taken"]):
            if number in states:
                set_random_state(states[number])
            if self._next() is None:
                wanted = f"expected at least {position['taken']} batches"
                problem = f"{wanted} in {self.loader.data_path}, got {number}"
                hint = "the training data have changed since the checkpoint"
                raise InputError(problem, hint=hint)

    @overrides
    def iter_instances(self) -> Iterator[Instance]:
        return iter(self.loader.iter_instances())

    @overrides
    def index_with(self, vocab: Vocabulary) -> None:
        self.loader.index_with(vocab)

    @overrides
    def set_target_device(self, device: torch.device) -> None:
        self.loader.set_target_device(device)

    def _next(self) -> Any:
        """
        The next batch of this pass, or of a new one after its end; `None` at the end of
        a pass.
        """
        if self._pass is None:
            self._pass = iter(self.loader._iter_batches())
            self._taken = 0
            self._states = []
            self._last_state = None
        if self._in_pieces or not self._states:
            state = order_state()
            if state != self._last_state:
                self._states.append((self._taken, state))
        batch = next(self._pass, None)
        if batch is None:
            self._pass = None
            self._taken = 0
            self._states = []
            return None
        self._taken += 1
        self._last_state = None
        if self._in_pieces:
            self._last_state = order_state()
        return batch


def make_resumable(loader: DataLoader) -> Resumable:
    """
    The data loader itself if it is `Resumable`; `Passes` over AllenNLP's, or over one
    with the same iteration.

    Raises `InputError` for any other data loader.
    """
    if isinstance(loader, Resumable):
        return loader
    iterates_as_allennlp = type(loader).__iter__ is MultiProcessDataLoader.__iter__
    if isinstance(loader, MultiProcessDataLoader) and iterates_as_allennlp:
        return Passes(loader)
    wanted = (
        "expected the data loader multiprocess, elmo_tasks_lm "
        "or one with position() and resume()"
    )
    problem = f"trainer elmo_tasks: {wanted}, got {type(loader).__name__}"
    hint = 'set trainer.type to "gradient_descent", which does not resume exactly'
    raise InputError(problem, hint=hint)


def random_state() -> dict[str, Any]:
    """
    The state of the global generators of Python, NumPy and PyTorch, and of the GPUs in
    use.
    """
    of_gpus = []
    if torch.cuda.is_initialized():
        of_gpus = torch.cuda.get_rng_state_all()
    return order_state() | {"torch": torch.get_rng_state(), "cuda": of_gpus}


def order_state() -> dict[str, Any]:
    """
    Of Python and NumPy only, which data loaders and readers use for the order of the
    data.
    """
    of_numpy: Any = numpy.random.get_state()
    name, keys, *rest = of_numpy
    return {"python": random.getstate(), "numpy": (name, keys.tolist(), *rest)}


def set_random_state(state: dict[str, Any]) -> None:
    """Restore a `random_state()` or `order_state()` of this or another process."""
    random.setstate(state["python"])
    numpy.random.set_state(state["numpy"])
    if "torch" in state:
        torch.set_rng_state(state["torch"])
        of_gpus = state["cuda"][: torch.cuda.device_count()]
        for device, of_gpu in enumerate(of_gpus):
            torch.cuda.set_rng_state(of_gpu, device)
