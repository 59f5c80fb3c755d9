"""The lowest encoder of a task: a feed-forward layer on each token, and bidirectional LSTM layers (paper, A.8)."""

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn

from elmo_tasks.modules.initialization import glorot
from elmo_tasks.modules.stacked_lstm import StackedLstm
from elmo_tasks.ranges import require_dropouts, require_sizes


@Seq2SeqEncoder.register("elmo_tasks_feedforward_lstm")
class FeedForwardLstm(Seq2SeqEncoder):
    """
    A ReLU layer with dropout, the same for each token, before a `StackedLstm`. AllenNLP's `compose` refuses the pair,
    since one part is bidirectional and the other is not. The ReLU layer starts as `glorot` says.

    # Parameters

    input_size : `int`
        Width of the input; `InputEncoder` supplies it.
    feedforward_size : `int`
        Units of the ReLU layer.
    hidden_sizes : `list[int]`
        Units per direction of each LSTM layer, the lowest first.
    feedforward_dropout : `float`
        Share of the units of the ReLU layer that are dropped.
    dropout : `float`
        See `StackedLstm`.
    """

    def __init__(
        self,
        *,
        input_size: int,
        feedforward_size: int,
        hidden_sizes: list[int],
        feedforward_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_sizes(feedforward_size=feedforward_size)
        require_dropouts(feedforward_dropout=feedforward_dropout)
        self.feedforward = glorot(nn.Linear(input_size, feedforward_size))
        self.feedforward_dropout = nn.Dropout(feedforward_dropout)
        self.lstm = StackedLstm(input_size=feedforward_size, hidden_sizes=hidden_sizes, dropout=dropout)

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """
        # Parameters

        inputs : `Tensor`, shape [B, T, D]
        mask : `Tensor`, bool, shape [B, T]
            True for tokens, which fill each row from the left.

        # Returns

        `Tensor`, shape [B, T, 2H], H being the size of the top layer; zero where there is no token.
        """
        hidden = self.feedforward_dropout(self.feedforward(inputs).relu())  # [B, T, feedforward_size]
        return self.lstm(hidden, mask)

    def get_input_dim(self) -> int:
        """Width of the input."""
        return self.feedforward.in_features

    def get_output_dim(self) -> int:
        """Width of the output: both directions of the top layer."""
        return self.lstm.get_output_dim()

    def is_bidirectional(self) -> bool:
        """Always; the first half of the output runs forward."""
        return True
