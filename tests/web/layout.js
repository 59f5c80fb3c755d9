// What is cut, sticks out of its container, or overlaps or touches another box, in words.
() => {
  const problems = new Set();
  const name = (one) => `${one.tagName.toLowerCase()}${one.id && `#${one.id}`}.${one.className} “${
    one.textContent.trim().slice(0, 30)}”`;
  const scrolls = ".scroll, pre, select";  // by a bar of its own
  const unseen = "svg, option, noscript, #skip, .switch input";
  const all = [...document.querySelectorAll("#ready *")].filter((one) =>
    one.checkVisibility() && one.getClientRects().length && !one.closest(unseen));

  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) problems.add("the page is wider than the window");
  for (const one of all) {
    const style = getComputedStyle(one), box = one.getBoundingClientRect();
    if (style.textOverflow === "ellipsis") problems.add(`${name(one)} has an ellipsis`);
    const isBlock = !style.display.startsWith("inline");
    if (isBlock && !one.matches(scrolls) && one.scrollWidth > one.clientWidth + 1) {
      problems.add(`${name(one)}: its content is wider`);
    }
    if (style.overflowY !== "visible" && !one.matches(scrolls) && one.scrollHeight > one.clientHeight + 2) {
      problems.add(`${name(one)}: its content is cut or scrolls`);
    }
    if (one.parentElement.closest(scrolls)) continue;
    const outer = one.parentElement.getBoundingClientRect();
    const parentIsBlock = !getComputedStyle(one.parentElement).display.startsWith("inline");
    if (parentIsBlock && (box.left < outer.left - 1 || box.right > outer.right + 1)) {
      problems.add(`${name(one)} is wider than its container ${name(one.parentElement)}`);
    }
  }

  // Boxes with an edge that is seen keep a pixel between them; texts do not overlap.
  const edged = ".card, button, select, textarea, .switch label, mark, .label, .badge, .token, .clusters li";
  const boxes = all.filter((one) => one.matches(`${edged}, h1, h2, h3, p, a, td, th, summary, caption, legend, label`)
    && !one.parentElement.closest(scrolls));
  const fragments = boxes.flatMap((one) => {
    const style = getComputedStyle(one), isEdged = one.matches(edged);
    const beyond = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
    return [...one.getClientRects()].map((rect) => ({ one, isEdged, top: rect.top - beyond, left: rect.left - beyond,
      bottom: rect.bottom + beyond, right: rect.right + beyond }));
  }).sort((one, two) => one.top - two.top);
  fragments.forEach((a, place) => {
    for (let next = place + 1; next < fragments.length && fragments[next].top < a.bottom + 1; next += 1) {
      const b = fragments[next], gap = a.isEdged && b.isEdged ? 0.5 : -0.5;
      if (a.one.contains(b.one) || b.one.contains(a.one)) continue;
      const across = Math.max(a.left, b.left) - Math.min(a.right, b.right);
      const down = Math.max(a.top, b.top) - Math.min(a.bottom, b.bottom);
      if (across < gap && down < gap) problems.add(`${name(a.one)} touches ${name(b.one)}`);
    }
  });
  return [...problems];
}
