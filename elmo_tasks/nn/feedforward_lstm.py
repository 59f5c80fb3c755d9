"""A feed-forward layer on each token, followed by bidirectional LSTM layers (paper, appendix A.8)."""

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn

from elmo_tasks.nn.encoder import Encoder
from elmo_tasks.nn.initialization import glorot
from elmo_tasks.nn.stacked_lstm import StackedLstm
from elmo_tasks.settings import Probability, Size, checked


@Seq2SeqEncoder.register("elmo_tasks_feedforward_lstm")
class FeedForwardLstm(Encoder):
    """
    A ReLU layer with dropout before a `StackedLstm`. (AllenNLP's `compose` does not combine bidirectional encoders with
    others.) The ReLU layer is initialized with `glorot`.

    # Parameters

    - `input_size`: width of the input; `InputEncoder` supplies it.
    - `feedforward_size`: units of the ReLU layer.
    - `hidden_sizes`: units per direction of each LSTM layer, the lowest first.
    - `feedforward_dropout`: dropout on the output of the ReLU layer.
    - `dropout`: see `StackedLstm`.
    """

    @checked
    def __init__(
        self,
        *,
        input_size: Size,
        feedforward_size: Size,
        hidden_sizes: list[Size],
        feedforward_dropout: Probability = 0.0,
        dropout: Probability = 0.0,
    ) -> None:
        feedforward = glorot(nn.Linear(input_size, feedforward_size))
        lstm = StackedLstm(input_size=feedforward_size, hidden_sizes=hidden_sizes, dropout=dropout)
        super().__init__(input_dim=input_size, output_dim=lstm.get_output_dim())
        self.feedforward, self.lstm = feedforward, lstm
        self.feedforward_dropout = nn.Dropout(feedforward_dropout)

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """See `Encoder`."""
        hidden = self.feedforward_dropout(self.feedforward(inputs).relu())  # [B, T, feedforward_size]
        return self.lstm(hidden, mask)
