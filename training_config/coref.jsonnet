// Coreference without ELMo: paper, appendix A.6 (the end-to-end span model of Lee et al., 2017; CoNLL-2012).
//
// Departures from the paper
//   all: Turian's 50-d vectors stand beside GloVe, as in Lee et al., at paper if vectors/turian.50d.txt is there; else
//     they are left out. Words are looked up as written, then lower-cased. At paper the vectors have length 1 and words
//     without one have zeros, as there, and words of other texts are looked up in the files when they are evaluated
//     (their experiment `final` does the same); at mini and small vectors are as in the file, and words without one
//     have the mean. The LSTM starts as theirs at paper, at mini and small as that of their later code (Lee et al.,
//     2018). The character CNN ignores padding and starts as torch's do; theirs is Glorot-uniform and reads it. Each part of a document is read from gold
//     files (there: automatic ones, which have the same words and clusters). At most 150 epochs with patience 20 in
//     place of some 400,000 updates; the best epoch by average F1 on the validation data is kept, as there.
//   as in the original code: sentences are encoded one by one by an LSTM with coupled gates and learned first states;
//     kept spans never cross; 250 antecedents; speaker, genre and distance; windows of 50 sentences while training;
//     Adam, whose learning rate falls by a thousandth every 100 updates; dropout draws each element.
//   small: other data (OntoGUM, 177 documents, spans of 10 words at most as there), vectors of 100 instead of 300,
//     windows of 20 sentences, a cap of 10 epochs (1,770 updates) for both rows with a learning rate that falls to 0 in
//     a line: the rows compare, but neither is said to have converged.
//   mini: the synthetic corpus (160 stories), a smaller model, spans of 4 words, less dropout, 20 epochs (3,200
//     updates) for both rows with a learning rate that falls to 0 in a line; what the mentions are is soon learned, who
//     they are is not.
//
// Expected average F1 of MUC, B-cubed and CEAF-e: paper 67.2 (CoNLL-2012 test); small and mini: docs/RESULTS.md.
// Command: allennlp train training_config/coref.jsonnet -s out/coref
//   allennlp evaluate out/coref/model.tar.gz test.gold_conll --predictions-output-file out/coref/response
//   perl scorer.pl all out/coref/response.key out/coref/response
// Time: mini two minutes, small half an hour, on one CPU core; paper two days on a GPU.
local hidden_fields = import 'lib/hidden_fields.libsonnet';
local settings = import 'lib/settings.libsonnet';
local words = import 'lib/words.libsonnet';

hidden_fields.checked({
  train_file:: settings.file('coref/train.gold_conll'),
  validation_file:: settings.file('coref/dev.gold_conll'),
  // Of a file; { embedding_dim: 50 } for learned ones, null for none.
  vectors:: settings.choose({
    mini: { pretrained_file: settings.file('vectors/w2v.100d.txt.gz'), embedding_dim: 100 },
    small: self.mini,
    paper:
      local file(name, dim) = {
        pretrained_file: settings.file('vectors/' + name),
        embedding_dim: dim,
        unknown: 'zero',
        normalize: true,
      };
      local glove = file('glove.840B.300d.txt', 300);
      if settings.has('vectors/turian.50d.txt') then [glove, file('turian.50d.txt', 50)] else glove,
  }),

  characters:: settings.choose({
    mini: { embedding_dim: 8, num_filters: 10 },
    small: self.paper,
    paper: { embedding_dim: 8, num_filters: 50 },
  }),
  encoder_size:: settings.choose({ mini: 60, small: 200, paper: 200 }),
  hidden_size:: settings.choose({ mini: 50, small: 150, paper: 150 }),
  max_span_width:: settings.choose({ mini: 4, small: 10, paper: 10 }),
  max_antecedents:: settings.choose({ mini: 50, small: 250, paper: 250 }),
  max_training_sentences:: settings.choose({ mini: 50, small: 20, paper: 50 }),
  input_dropout:: settings.choose({ mini: 0.3, small: 0.5, paper: 0.5 }),
  dropout:: 0.2,

  learning_rate:: settings.choose({ mini: 2e-3, small: 1e-3, paper: 1e-3 }),
  // Updates after which the learning rate falls, linearly to 0; null lets it fall as the original does.
  warmup_steps:: settings.choose({ mini: 50, small: 50, paper: null }),
  num_epochs:: settings.choose({ mini: 20, small: 10, paper: 150 }),
  patience:: settings.choose({ mini: null, small: null, paper: 20 }),

  dataset_reader: { type: 'elmo_tasks_coref' },
  train_data_path: $.train_file,
  validation_data_path: $.validation_file,
  model: {
    type: 'elmo_tasks_coref',
    text_field_embedder: {
      token_embedders: words.embedder($.vectors, { trainable: false }) + {
        token_characters: {
          type: 'character_encoding',
          embedding: { embedding_dim: $.characters.embedding_dim, vocab_namespace: 'token_characters' },
          encoder: {
            type: 'cnn',
            embedding_dim: $.characters.embedding_dim,
            num_filters: $.characters.num_filters,
            ngram_filter_sizes: [3, 4, 5],
          },
        },
      },
    },
    word_vectors: $.vectors != null,
    encoder: {
      type: 'elmo_tasks_coupled_lstm',
      hidden_size: $.encoder_size,
      dropout: $.dropout,
      [if settings.scale == 'paper' then 'orthonormal_input']: false,
    },
    input_dropout: $.input_dropout,
    output_dropout: $.dropout,
    hidden_size: $.hidden_size,
    feature_size: 20,
    dropout: $.dropout,
    max_span_width: $.max_span_width,
    spans_per_word: 0.4,
    max_antecedents: $.max_antecedents,
    max_training_sentences: $.max_training_sentences,
    head_values: 'embeddings',
  },
  data_loader: { batch_size: 1, shuffle: true },
  validation_data_loader: { batch_size: 1, shuffle: false },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: $.num_epochs,
    [if $.patience != null then 'patience']: $.patience,
    validation_metric: '+f1',
    optimizer: { type: 'adam', lr: $.learning_rate },
    learning_rate_scheduler:
      if $.warmup_steps == null then { type: 'elmo_tasks_staircase', factor: 0.999, every: 100 }
      else { type: 'linear_with_warmup', warmup_steps: $.warmup_steps },
    grad_norm: 5.0,
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
  evaluation: { type: 'elmo_tasks_coref' },
})
