// Coreference with ELMo at the input of the encoder: paper, appendix A.6. All else is coref.jsonnet.
//
// Departures from the paper: as in coref.jsonnet. The paper drops 50% of the ELMo vectors. That is done here by the
//   dropout on all that the encoder reads (`input_dropout`: 0.5 at small and paper, 0.3 at mini), as in the authors'
//   later code; `dropout` below, 0.3 at mini, comes on top of it (-o '{"model.elmo.dropout": 0.5}' drops 75 % in all).
//   The paper does not say whether heads of spans are made of ELMo vectors, too: here, as in that code, they are not;
//   -o '{"model.head_values": "input"}' lets them.
//
// Expected average F1 of MUC, B-cubed and CEAF-e: paper 70.4 (CoNLL-2012 test); small and mini: docs/RESULTS.md.
// Command: allennlp train training_config/coref_elmo.jsonnet -s out/coref_elmo
//   Places and mixes: -o '{"model.elmo.at": "both"}', -o '{"model.elmo.mix": "last"}'; -o '{"model.elmo": null}' is
//   coref.jsonnet.
// Time: mini three minutes, small half an hour with cache_dir, on one CPU core; paper three days on a GPU.
local settings = import 'lib/settings.libsonnet';

(import 'coref.jsonnet') {
  model+: {
    elmo: settings.bilm {
      at: 'input',
      mix: 'weighted',
      l2: null,
      layer_norm: false,
      gamma: true,
      dropout: settings.choose({ mini: 0.3, small: 0.0, paper: 0.0 }),
      state: 'reset',
    },
  },
}
