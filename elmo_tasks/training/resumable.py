"""The place of a training in its data."""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import torch
from allennlp.data import Instance, Vocabulary
from allennlp.data.data_loaders import DataLoader, MultiProcessDataLoader

from elmo_tasks.errors import InputError
from elmo_tasks.training.rng_state import order_state, set_random_state


@runtime_checkable
class Resumable(Protocol):
    """A data loader that can tell where it stands, and go there."""

    def position(self) -> dict[str, Any]:
        """Where it stands between two batches: plain data for a checkpoint."""

    def resume(self, position: dict[str, Any], *, batches: int) -> None:
        """Go on at `position`, in an epoch of which `batches` are done: for these it gives empty ones."""


class Passes(DataLoader):
    """
    The batches of AllenNLP's own data loader, pass by pass over the data.

    The order of a pass hangs on the random numbers at its beginning, so that these and a count are its position; of
    data read in pieces also the random numbers wherever others have drawn some in between, as a validation may. Going
    on makes the batches already seen of one pass anew, never those of earlier epochs. With `batches_per_epoch` an
    epoch begins where the one before ended.

    # Parameters

    loader : `MultiProcessDataLoader`
        With more than one of its `num_workers` the instances come in another order in each run.
    """

    def __init__(self, loader: MultiProcessDataLoader) -> None:
        self.loader = loader
        self._pass: Iterator[Any] | None = None
        self._taken = 0
        self._drawn: list[tuple[int, dict[str, Any]]] = []
        self._after: dict[str, Any] | None = None
        self._to_skip = 0

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        skipped, self._to_skip = self._to_skip, 0
        yield from ({} for _ in range(skipped))
        if self.loader.batches_per_epoch is None:
            yield from self._one_pass(goes_on=skipped > 0)
            return
        for _ in range(self.loader.batches_per_epoch - skipped):
            yield self._next_of_any_pass()

    def position(self) -> dict[str, Any]:
        """The batches taken from the present pass, and before which of them the random numbers stood where."""
        return {"taken": self._taken, "drawn": list(self._drawn)}

    def resume(self, position: dict[str, Any], *, batches: int) -> None:
        """
        Go on where `position()` was called; the random numbers have to be set afterwards.

        # Raises

        `InputError` where the pass is shorter than it was, as the data have changed.
        """
        self._to_skip = batches
        drawn = dict(position["drawn"])
        self._pass = None
        for made in range(position["taken"]):
            if made in drawn:
                set_random_state(drawn[made])
            if self._next() is None:
                raise InputError(
                    f"the checkpoint was written after {position['taken']} batches of a pass over "
                    f"{self.loader.data_path}, which now has {made}",
                    hint="give the training data as they were",
                )

    def iter_instances(self) -> Iterator[Instance]:
        return iter(self.loader.iter_instances())

    def index_with(self, vocab: Vocabulary) -> None:
        self.loader.index_with(vocab)

    def set_target_device(self, device: torch.device) -> None:
        self.loader.set_target_device(device)

    def _one_pass(self, *, goes_on: bool) -> Iterator[Any]:
        if not goes_on:
            self._pass = None
        while (batch := self._next()) is not None:
            yield batch

    def _next_of_any_pass(self) -> Any:
        for _ in ("the present pass", "a new one"):
            batch = self._next()
            if batch is not None:
                return batch
        raise InputError(f"there is no batch in {self.loader.data_path}")

    def _next(self) -> Any:
        """The next batch of the present pass, else of a new one; `None` where the pass ends."""
        if self._pass is None:
            self._pass = iter(self.loader._iter_batches())
            self._taken, self._drawn, self._after = 0, [], None
        self._note_draws()
        batch = next(self._pass, None)
        if batch is None:
            self._pass, self._taken, self._drawn = None, 0, []
            return None
        self._taken += 1
        self._after = order_state() if self._in_pieces() else None
        return batch

    def _note_draws(self) -> None:
        """Where the random numbers stand when a pass begins; for data in pieces also where others have drawn since."""
        if self._drawn and not self._in_pieces():
            return
        state = order_state()
        if state != self._after:
            self._drawn.append((self._taken, state))

    def _in_pieces(self) -> bool:
        return self.loader.max_instances_in_memory is not None


def followed(loader: DataLoader) -> Resumable:
    """
    The data loader itself if it knows its place, else AllenNLP's own, or one that makes batches as it does, with
    something that does.

    # Raises

    `InputError` for a data loader that is neither.
    """
    if isinstance(loader, Resumable):
        return loader
    if isinstance(loader, MultiProcessDataLoader) and type(loader).__iter__ is MultiProcessDataLoader.__iter__:
        return Passes(loader)
    raise InputError(
        f"trainer elmo_tasks cannot go on exactly with the data loader {type(loader).__name__}: it wants multiprocess, "
        "elmo_tasks_lm, or one with position() and resume()",
        hint='set trainer.type to "gradient_descent", which goes on roughly',
    )
