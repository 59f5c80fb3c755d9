// The word vectors of a task model, as the hidden field `vectors` of its config says:
//   { pretrained_file, embedding_dim }   those of a file
//   [{ ... }, { ... }]                   those of several files, one after the other
//   { embedding_dim }                    learned with the model, for a language without such a file
//   null                                 none; characters or ELMo must be left
// An archive has the vectors of the words of the training and validation data. The others of the file are added at mini
// and small; at paper, where GloVe would add 2.6 GB to each checkpoint, `evaluate` and `predict` look them up in the file.
local settings = import 'settings.libsonnet';

{
  // The token embedder under the key `tokens`; `options` are those of vectors of a file.
  embedder(vectors, options)::
    local one(vectors) =
      { type: 'elmo_tasks_word_vectors' }
      + (if !std.objectHas(vectors, 'pretrained_file') then { trainable: true }
         else if settings.scale == 'paper' then options { lookup_file: vectors.pretrained_file }
         else options { keep_all_pretrained: true })
      + vectors;
    if vectors == null then {}
    else if std.isArray(vectors) then {
      tokens: { type: 'elmo_tasks_concatenated_vectors', parts: [one(part) for part in vectors] },
    }
    else { tokens: one(vectors) },
}
