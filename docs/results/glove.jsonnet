// GloVe in place of w2v, without and with ELMo (glove.jsonl). For named entities, train_data_path was the first
// 85 % of the sentences.
local rows = import '../../training_config/tables/rows.libsonnet';
local tokens = 'model.text_field_embedder.token_embedders.tokens';
local glove = {
  [tokens + '.pretrained_file']: 'glove.6B.50d.txt',
  [tokens + '.embedding_dim']: 50,
};
local tasks = ['ner', 'sst', 'snli'];
{
  title: 'GloVe',
  rows: [rows.baseline(task) { changes: glove } for task in tasks]
        + [rows.untuned(task, 'ELMo') { changes: glove } for task in tasks],
}
