// What the page does when it is opened. Without this script, everything is in it, but still.

addFilesOfFigures();
const explorerRoot = document.getElementById("explorer");
if (explorerRoot) new ExplorerView(explorerRoot, document.querySelector("#items-table table"));
enliven();
