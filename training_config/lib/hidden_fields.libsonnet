// The settings of a config are hidden fields (`name:: value`), which an importing file may override:
//   (import 'squad.jsonnet') { batch_size:: 16 }
// Jsonnet ignores a misspelt one; `checked` makes it an error.
{
  checked(base)::
    local hidden(object) = [
      field
      for field in std.objectFieldsAll(object)
      if !std.objectHas(object, field)
    ];
    local declared = hidden(base);
    base {
      local unknown = [field for field in hidden(self) if !std.member(declared, field)],
      assert std.length(unknown) == 0 :
             'unknown hidden field(s): ' + std.join(', ', unknown) + '; known: ' + std.join(', ', declared),
    },
}
