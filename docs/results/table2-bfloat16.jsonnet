// Table 2 of SRL with its encoder in bfloat16, as its rows in table2.jsonl were run (commit 2341dd0e).
local table = import '../../training_config/tables/table2.jsonnet';
table {
  rows: [
    row { changes+: { 'model.encoder.precision': 'bfloat16' } }
    for row in table.rows
    if row.row_label == 'SRL'
  ],
}
