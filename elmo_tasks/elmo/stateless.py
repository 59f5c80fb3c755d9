"""What sources of layers without carried states have in common."""

from torch import nn

from elmo_tasks.bilm.lstm import State


class StatelessSource(nn.Module):
    """Computes layers as `BiLM` does; a sentence's layers never depend on other sentences."""

    state = "reset"

    def reset_states(self) -> None:
        """Do nothing: no states are carried."""

    def carried_states(self) -> dict[str, list[State]]:
        """Empty: no states are carried."""
        return {}

    def set_carried_states(self, states: dict[str, list[State]]) -> None:
        """Do nothing: no states are carried."""
