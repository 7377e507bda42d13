// What the page does when it is opened. Without this script, everything is in it, but still.

addFilesOfFigures();
const explorerRoot = document.getElementById("explorer");
try {
  if (explorerRoot) new ExplorerView(explorerRoot, document.querySelector("#items-table table"));
} catch (error) {
  explorerRoot.hidden = true; // the figures stay
  console.error(error);
}
enliven();
const shortly = document.getElementById("print-short"); // not on the page of two studies
shortly?.removeAttribute("hidden");
shortly?.addEventListener("click", () => {
  document.body.classList.add("short-printed");
  print();
});
addEventListener("afterprint", () => document.body.classList.remove("short-printed"));
for (const box of document.querySelectorAll("figure > .scroll")) hintAt(box, "The figure is wider: scroll sideways →");
