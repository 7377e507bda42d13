// Puts the board in place of the plain forms.

import { Board } from "./board.js";
import { prepareDialogs } from "./dialogs.js";
import { Piles } from "./piles.js";
import { Sheet } from "./sheet.js";

const plain = document.getElementById("plain");
const root = document.getElementById("board");

try {
  const board = new Board(JSON.parse(document.getElementById("board-data").textContent));
  const view = board.data.board === "sheet" ? new Sheet(board) : new Piles(board);
  prepareDialogs(board);
  board.start(view);
  plain.remove();
  root.hidden = false;
} catch (error) {
  root.hidden = true;
  plain.classList.add("needed"); // the forms do without scripts
  throw error;
}
