// Sentiment with ELMo in AllenNLP's reading of A.8, which replicated 54.7: all phrases, maxout, ELMo at the input alone.
// Command: elmo-tasks train training_config/paper/sst_allennlp.jsonnet -s out/sst_allennlp
(import 'sst_elmo.jsonnet') {
  dataset_reader+: { min_phrase_length: 1 },
  model+: {
    elmo+: { at: 'input', l2: null, dropout: 0.0 },
    head+: { type: 'elmo_tasks_maxout', dropout: [0.2, 0.3] },
    input_dropout: 0.5,
  },
  trainer+: { optimizer+: { lr: 1e-3 } },
}
