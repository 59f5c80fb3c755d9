// Named entities without ELMo: paper, appendix A.7 (character CNN, two biLSTM layers, CRF; CoNLL-2003).
//
// Departures from the paper
//   all: 50-dimensional GloVe vectors (paper) or the vectors of the data root (small, mini) instead of Senna's 50, which
//     are for lower-cased text and may not be redistributed. A word is looked up as written, then lower-cased; words of
//     other texts are looked up in the file when they are evaluated. The character CNN reads a begin and an end mark
//     around each word. 200 and 100 hidden units are taken to be per direction.
//   what the paper leaves open: batches of 64, at most 75 epochs with patience 25, BIOUL tags and a loss summed over
//     the batch are AllenNLP's. Dropout 0.5 is AllenNLP's rate; it is variational, at the input of both biLSTM layers,
//     as the paper has it, where AllenNLP's is ordinary and drops the encoder's output, too. Forget biases start at 1,
//     recurrences orthogonal, where AllenNLP's start as torch's.
//   small: other data (W-NUT 17, 3,394 sentences), hence batches of 32, and a cap of 15 epochs (1,605 updates) for
//     both rows: the baseline is best before that, but neither is said to have converged. No early stopping.
//   mini: the synthetic corpus (400 sentences), a smaller model, batches of 16, a cap of 30 epochs (750 updates) for
//     both rows, Adam with 2e-3 falling to 0 in a line: otherwise the last epochs differ by two points and the best of
//     them is luck.
//
// Expected F1: paper 90.15 (CoNLL-2003 test; AllenNLP's re-implementation 89.91 +- 0.35);
//   small and mini: docs/RESULTS.md.
// Command: allennlp train training_config/ner.jsonnet -s out/ner
//   allennlp evaluate out/ner/model.tar.gz eng.testb
// Time: mini a minute, small five minutes on one CPU core; paper an hour on a GPU.
local hidden_fields = import 'lib/hidden_fields.libsonnet';
local settings = import 'lib/settings.libsonnet';
local words = import 'lib/words.libsonnet';

hidden_fields.checked({
  train_file:: settings.file('ner/eng.train'),
  validation_file:: settings.file('ner/eng.testa'),
  // Of a file; { embedding_dim: 50 } for learned ones, null for none.
  vectors:: settings.choose({
    mini: { pretrained_file: settings.file('vectors/w2v.100d.txt.gz'), embedding_dim: 100 },
    small: self.mini,
    paper: { pretrained_file: settings.file('vectors/glove.6B.50d.txt'), embedding_dim: 50, unknown: 'random' },
  }),

  characters:: settings.choose({
    mini: { embedding_dim: 16, num_filters: 32 },
    small: self.paper,
    paper: { embedding_dim: 16, num_filters: 128 },
  }),
  hidden_sizes:: settings.choose({ mini: [100, 50], small: [200, 100], paper: [200, 100] }),
  dropout:: 0.5,

  batch_size:: settings.choose({ mini: 16, small: 32, paper: 64 }),
  learning_rate:: settings.choose({ mini: 2e-3, small: 1e-3, paper: 1e-3 }),
  warmup_steps:: settings.choose({ mini: 50, small: null, paper: null }),
  num_epochs:: settings.choose({ mini: 30, small: 15, paper: 75 }),
  patience:: settings.choose({ mini: null, small: null, paper: 25 }),

  dataset_reader: { type: 'elmo_tasks_ner' },
  train_data_path: $.train_file,
  validation_data_path: $.validation_file,
  model: {
    type: 'elmo_tasks_ner',
    text_field_embedder: {
      token_embedders: words.embedder($.vectors, { trainable: true }) + {
        token_characters: {
          type: 'character_encoding',
          embedding: { embedding_dim: $.characters.embedding_dim, vocab_namespace: 'token_characters' },
          encoder: {
            type: 'cnn',
            embedding_dim: $.characters.embedding_dim,
            num_filters: $.characters.num_filters,
            ngram_filter_sizes: [3],
          },
        },
      },
    },
    word_vectors: $.vectors != null,
    encoder: { type: 'elmo_tasks_stacked_lstm', hidden_sizes: $.hidden_sizes, dropout: $.dropout },
  },
  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: $.batch_size, sorting_keys: ['tokens'] },
  },
  validation_data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 64, sorting_keys: ['tokens'], padding_noise: 0 },
  },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: $.num_epochs,
    [if $.patience != null then 'patience']: $.patience,
    validation_metric: '+f1',
    optimizer: { type: 'adam', lr: $.learning_rate },
    [if $.warmup_steps != null then 'learning_rate_scheduler']: {
      type: 'linear_with_warmup',
      warmup_steps: $.warmup_steps,
    },
    grad_norm: 5.0,
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
})
