// Of the page as it is drawn now: what is wider than its column, what is cut, and which texts overlap.
() => {
  const problems = [], text = (node) => node.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
  const name = (element) => `${element.tagName.toLowerCase()}.${element.className.baseVal ?? element.className}`;
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) problems.push(`the page is ${page.scrollWidth} wide`);

  const article = document.querySelector("article.bd-article, .bd-search-container");
  const { left, right } = article.getBoundingClientRect();
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    !element.closest(".visually-hidden, .sr-only, button.copybtn, .headerlink");
  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
  const box = (element) => {  // the nearest element around it that scrolls
    for (let one = element.parentElement; one && one !== article; one = one.parentElement) if (scrolls(one)) return one;
  };
  for (const element of article.querySelectorAll("*")) {
    if (!isSeen(element) || element.closest("svg") !== null && element.tagName !== "svg") continue;
    const place = element.getBoundingClientRect();
    if (!place.width || box(element)) continue;
    if (place.right > right + 1 || place.left < left - 1) problems.push(`wide: ${name(element)} ${text(element)}`);
    const hides = /hidden|clip/.test(getComputedStyle(element).overflowX);
    if (hides && element.scrollWidth > element.clientWidth + 1) problems.push(`cut: ${name(element)} ${text(element)}`);
  }

  // The lines of each text, inside the box that it scrolls in.
  const lines = [], walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.trim() || !isSeen(node.parentElement)) continue;
    const range = document.createRange(), around = box(node.parentElement)?.getBoundingClientRect();
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
      const from = Math.max(line.left, around?.left ?? -Infinity), to = Math.min(line.right, around?.right ?? Infinity);
      if (to - from > 1) lines.push({ node, from, to, top: line.top, bottom: line.bottom });
    }
  }
  lines.sort((one, other) => one.top - other.top);
  lines.forEach((one, k) => {
    for (const other of lines.slice(k + 1)) {
      if (other.top >= one.bottom) break;
      const height = Math.min(one.bottom, other.bottom) - other.top;
      const share = height / Math.min(one.bottom - one.top, other.bottom - other.top);
      if (share > 0.5 && Math.min(one.to, other.to) - Math.max(one.from, other.from) > 2) {
        problems.push(`overlap: ${text(one.node)} / ${text(other.node)}`);
      }
    }
  });
  return [...new Set(problems)];
}
