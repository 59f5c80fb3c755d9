// Layout shift since the page was opened, controls without a name, and texts with a contrast below 4.5:1 (WCAG 2.2).
async () => {
  let shift = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((one) => { shift += one.value; })).observe(
    { type: "layout-shift", buffered: true });
  await new Promise((done) => setTimeout(done, 200));
  const controls = [...document.querySelectorAll("button, select, textarea, input, a, [tabindex='0']")];
  const named = (one) => one.ariaLabel || one.labels?.length || one.textContent.trim();
  const unnamed = controls.filter((one) => one.checkVisibility() && !named(one)).map((one) => one.outerHTML);

  const pixel = new OffscreenCanvas(1, 1).getContext("2d");
  const luminance = (layers) => {
    for (const colour of layers) { pixel.fillStyle = colour; pixel.fillRect(0, 0, 1, 1); }
    const linear = [...pixel.getImageData(0, 0, 1, 1).data].map((one) => one / 255).map((one) =>
      one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05;
  };
  const faint = [];
  const walk = (element, under) => {
    const { backgroundColor, color } = getComputedStyle(element), layers = [...under, backgroundColor];
    const text = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (text && element.checkVisibility() && !element.closest(":disabled")) {
      const [light, dark] = [luminance(layers), luminance([...layers, color])].sort((one, two) => two - one);
      if (light / dark < 4.5) faint.push(`${element.outerHTML.slice(0, 90)}: ${light / dark}`);
    }
    for (const child of element.children) walk(child, layers);
  };
  walk(document.body, ["white"]);
  return { shift, unnamed, faint };
}
