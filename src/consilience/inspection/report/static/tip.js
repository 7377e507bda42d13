// What is said: a tip next to the pointer, and the line that screen readers read out when it changes.

const tip = add(document.body, "div", "", { class: "tip", hidden: "", "aria-hidden": "true" });

/** Show texts and elements next to a place on the screen. */
function showTip(parts, x, y) {
  tip.replaceChildren(...parts);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
  tip.style.left = `${Math.max(left, 4)}px`;
  tip.style.top = `${y + 14 + height > innerHeight ? Math.max(y - 14 - height, 4) : y + 14}px`;
}

function hideTip() {
  tip.hidden = true;
}

/** Hide the tip when a mouse leaves; a finger leaves at once, and its tip stays until it touches something else. */
function hideTipAfter(element) {
  element.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hideTip());
}

addEventListener("pointerdown", hideTip, { capture: true });
addEventListener("change", hideTip);
addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
addEventListener("wheel", hideTip, { passive: true });
addEventListener("touchmove", hideTip, { passive: true });

/** Say something in the only live region of the page; names are elements, so that each keeps its direction. */
function speak(...parts) {
  const region =
    document.getElementById("spoken") || add(document.body, "p", "", { id: "spoken", class: "unseen", role: "status" });
  region.replaceChildren(...parts);
}
