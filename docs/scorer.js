// Search: pages of the API come before the keys of configs, and keys before other pages that have
// the word in their text. A dotted key that is looked for comes first.
var Scorer = {
  score: ([page, , anchor, , score]) => {
    const query = new URLSearchParams(window.location.search).get("q") ?? "";
    if (query.includes(".")) return score;
    if (page.startsWith("api/")) return score + 3;
    return anchor.startsWith("#key-") ? 7 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
