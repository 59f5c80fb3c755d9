// Figure 1's smallest shares of SNLI, trained to early stopping (shares.jsonl).
local table = import '../../training_config/tables/figure1.jsonnet';
table {
  rows: [
    row {
      changes+: {
        'data_loader.batches_per_epoch': std.get({ '0.01': 15 }, '%g' % row.changes['data_loader.share'], null),
        'model.encoder.dropout': 0.5,
        'model.composition.dropout': 0.5,
        'model.dropout': 0.5,
        'model.attention_dropout': 0.5,
        'model.weight_l2': 1e-4,
        'trainer.num_epochs': 20,
        'trainer.patience': 5,
        'trainer.learning_rate_scheduler': null,
      },
    }
    for row in table.rows
    if std.member(['snli-baseline-0.01', 'snli-elmo-0.01'], row.name)
      || std.member(['snli-baseline-0.03', 'snli-elmo-0.03'], row.name)
  ],
}
