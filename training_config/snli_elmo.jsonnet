// Textual entailment with ELMo at the input and the output of the lowest encoder: paper, appendix A.3. All else is
// snli.jsonnet; the dropout behind the attention and the L2 penalty on weight matrices that the paper adds with ELMo
// are switched by the model itself.
//
// Departures from the paper: as in snli.jsonnet; the biLM is not fine-tuned on SNLI, the paper's is (88.9 on the
//   development set without), as in the tables in ablations/ at paper. Word vectors stay beside ELMo (section 3.3;
//   AllenNLP's configuration drops them). Normalisation takes its statistics over one sentence, so that its vectors do
//   not depend on the batch; the paper's code takes them over the whole batch (-o '{"model.elmo.layer_norm": "batch"}')
//   and does not normalize a last layer that stands alone ("model.elmo.layer_norm": false, as in the tables at paper).
//   ELMo's own dropout, which the paper does not name, is 0 at both places.
//
// Expected accuracy: paper 88.7 +- 0.17 (test; 89.5 dev); small and mini: docs/RESULTS.md.
// Command: allennlp train training_config/snli_elmo.jsonnet -s out/snli_elmo
//   Places and mixes: -o '{"model.elmo.at": "input"}', -o '{"model.elmo.mix": "last", "model.elmo.l2": null}';
//   -o '{"model.elmo": null}' is snli.jsonnet.
// Time: mini eight minutes, three with cache_dir, small fifteen with it, on one CPU core; paper a day on a GPU.
local settings = import 'lib/settings.libsonnet';

(import 'snli.jsonnet') {
  model+: {
    elmo: settings.bilm {
      at: 'both',
      mix: 'weighted',
      l2: 0.001,
      layer_norm: 'sentence',
      gamma: true,
      dropout: 0.0,
      state: 'reset',
    },
  },
}
