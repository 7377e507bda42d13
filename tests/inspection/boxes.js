// What is cut, overlaps or reaches out of the page: sentences about boxes, none if all is well.
() => {
  const troubles = [];
  const told = (element) => {
    const id = element.closest("[id]")?.id ?? "";
    return `${element.tagName.toLowerCase()} "${element.textContent.trim().slice(0, 30)}" in #${id}`;
  };
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  const scrolls = (element) => element.closest(".scroll, .tree-scroll, .album, .spoken, .unseen, .compared caption, .tip");
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) troubles.push(`the page is ${document.documentElement.scrollWidth} wide of ${wide}`);
  const texts = "h1, h2, h3, p, li, summary, caption .told, figcaption, dt, dd, button, label, legend, select, output, .listed, .reading";
  for (const element of document.querySelectorAll(texts)) {
    if (!isShown(element)) continue;
    const box = element.getBoundingClientRect();
    const inTable = element.matches(".told") || !scrolls(element);
    if (inTable && (box.right > wide + 1 || box.left < -1)) troubles.push(`out of the page: ${told(element)}`);
    const clips = getComputedStyle(element).overflowX !== "visible" && !element.matches("select");
    if (clips && !scrolls(element) && element.scrollWidth > element.clientWidth + 1) troubles.push(`cut: ${told(element)}`);
  }
  for (const svg of document.querySelectorAll("figure svg:not(svg svg), .panel svg")) {
    if (!isShown(svg) || svg.matches(".swatch, .thumb")) continue;
    const around = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll("text")].filter(isShown).map((text) => [text, text.getBoundingClientRect()]);
    const words = boxes.filter(([text, box]) => box.width > 0 && text.textContent.trim());
    for (const [text, box] of words) {
      const out = Math.max(around.left - box.left, box.right - around.right, around.top - box.top, box.bottom - around.bottom);
      if (out > 3) troubles.push(`${out.toFixed(0)} out of its figure: ${told(text)}`);
    }
    for (const [place, [text, one]] of words.entries())
      for (const [other, two] of words.slice(place + 1)) {
        const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
        const down = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        const least = Math.min(one.width * one.height, two.width * two.height);
        if (across > 2 && down > 2 && across * down > 0.3 * least) troubles.push(`${told(text)} over ${told(other)}`);
      }
  }
  for (const blocks of document.querySelectorAll(".blocks, .panels, .lists, main, header, .bar, .tools")) {
    const parts = [...blocks.children].filter((part) => isShown(part) && getComputedStyle(part).position !== "absolute");
    const boxes = parts.map((part) => part.getBoundingClientRect());
    for (let i = 0; i < parts.length; i++)
      for (let j = i + 1; j < parts.length; j++) {
        const across = Math.min(boxes[i].right, boxes[j].right) - Math.max(boxes[i].left, boxes[j].left);
        const down = Math.min(boxes[i].bottom, boxes[j].bottom) - Math.max(boxes[i].top, boxes[j].top);
        if (across > 1 && down > 1) troubles.push(`${told(parts[i])} overlaps ${told(parts[j])}`);
      }
  }
  return troubles;
}
