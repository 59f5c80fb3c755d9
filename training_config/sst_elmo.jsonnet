// Sentiment of sentences with ELMo at the input and behind the encoder biLSTM: paper, appendix A.8. All else is
// sst.jsonnet.
//
// Departures from the paper: as in sst.jsonnet. "The output ELMo vectors are computed with a second biLSTM and
//   concatenated to the input" can be read in several ways, and AllenNLP's configurations have no such biLSTM: by default
//   the second mix itself is concatenated to the output of the encoder biLSTM, before biattention, as in the paper's SNLI
//   and SQuAD models. A second biLSTM reads that mix first with -o '{"model.elmo_output_encoder": {"type": "elmo_tasks_stacked_lstm", "hidden_sizes": [300]}}'.
//   AllenNLP's first configuration had it behind the integrator, its later one at the input alone, without lambda: a file
//   with (import 'sst_elmo.jsonnet') { preset:: 'allennlp' }. The paper does not say whether layers are normalized: they
//   are not, except at mini. Dropout of the ELMo vectors is 0.5 as in AllenNLP's first configuration, 0.1 at mini and
//   small.
//
// Expected accuracy: paper 54.7 +- 0.5 (test); small and mini: docs/RESULTS.md.
// Command: allennlp train training_config/sst_elmo.jsonnet -s out/sst_elmo
//   Places and mixes: -o '{"model.elmo.at": "input"}', -o '{"model.elmo.mix": "last", "model.elmo.l2": null}';
//   -o '{"model.elmo": null}' is sst.jsonnet.
// Time: mini a minute with cache_dir, small a quarter of an hour with it, on one CPU core; paper some hours on a GPU.
local settings = import 'lib/settings.libsonnet';

(import 'sst.jsonnet') {
  input_dropout:: if $.preset == 'allennlp' && settings.scale == 'paper' then 0.5 else super.input_dropout,
  model+: {
    elmo: settings.bilm {
      at: $.presets[$.preset].elmo.at,
      mix: 'weighted',
      l2: $.presets[$.preset].elmo.l2,
      layer_norm: settings.choose({ mini: 'sentence', small: false, paper: false }),
      gamma: true,
      dropout: $.presets[$.preset].elmo.dropout,
      state: 'reset',
    },
  },
}
