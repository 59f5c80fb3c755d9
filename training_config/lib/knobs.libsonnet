// Knobs are hidden fields (`name:: value`) of a config, which a leaf may set anew:
//   (import 'squad.jsonnet') { batch_size:: 16 }
// Jsonnet would take a misspelt one in silence; `checked` makes it an error.
{
  checked(base)::
    local hidden(object) = [
      field
      for field in std.objectFieldsAll(object)
      if !std.objectHas(object, field)
    ];
    local declared = hidden(base);
    base {
      local unknown = [knob for knob in hidden(self) if !std.member(declared, knob)],
      assert std.length(unknown) == 0 :
             'unknown knob(s): ' + std.join(', ', unknown) + '; known: ' + std.join(', ', declared),
    },
}
