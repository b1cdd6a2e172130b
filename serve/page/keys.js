// The keys of the page: one table, from which the help is written.
import { byId, element } from "./dom.js";

// Each row: what to press, what it does.
const table = [
  ["Arrow keys", "go to another photo; with Shift, select up to it"],
  ["Page Up, Page Down, Home, End", "go a screen up or down, to the first or the last photo"],
  ["Enter", "accept: the label or the first suggestion is right"],
  ["1 … 5", "take a suggestion"],
  ["letters", "type a class: Enter takes the marked name, Shift+Enter exactly what was typed (for a name with u or r begin with a capital)"],
  ["Space", "select the photo or take it out of the selection"],
  ["Ctrl+A", "select all photos of this view that are loaded"],
  ["+", "all like this: show the most similar photos, those that probably belong together selected"],
  ["Alt+Enter", "open the photo large"],
  ["Delete", "remove the label"],
  ["Shift+Delete", "forget the photo: remove every trace of it that the model has"],
  ["u", "undo"],
  ["r", "redo"],
  ["<", "the history, to go back to a point of it"],
  ["Esc", "clear the selection, or go back"],
  ["?", "this help"],
];

export function writeHelp() {
  byId("keys-list").replaceChildren(...table.map(([keys, what]) =>
    element("div", {}, element("dt", {}, keys), element("dd", {}, what))));
}

// listenToKeys calls the commands. It leaves alone what is typed into fields,
// and dialogs other than that of a photo.
export function listenToKeys(commands) {
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input, select, textarea");
    const dialog = Array.from(document.querySelectorAll("dialog[open]")).at(-1);
    if (event.defaultPrevented || field || (dialog && dialog.id !== "photo")) {
      return;
    }
    const control = event.ctrlKey || event.metaKey;
    const pressed = event.target.closest("button, a, summary") && (event.key === "Enter" || event.key === " ");
    if (pressed) {
      return;
    }
    const run = command(event, control, commands);
    if (run) {
      event.preventDefault();
      run();
    }
  });
}

function command(event, control, c) {
  const { key, shiftKey: shift } = event;
  if (control) {
    return { z: shift ? c.redo : c.undo, Z: c.redo, y: c.redo, a: c.selectAll }[key];
  }
  if (event.altKey) {
    return key === "Enter" ? c.open : undefined;
  }
  const named = {
    ArrowLeft: () => c.move(-1, 0, shift), ArrowRight: () => c.move(1, 0, shift),
    ArrowUp: () => c.move(0, -1, shift), ArrowDown: () => c.move(0, 1, shift),
    PageUp: () => c.page(-1, shift), PageDown: () => c.page(1, shift), Home: () => c.end(-1, shift), End: () => c.end(1, shift),
    Enter: c.accept, " ": c.toggle, "+": c.like, Delete: shift ? c.forget : c.unlabel, "<": c.history, Backspace: c.unlabel, u: c.undo, r: c.redo, Escape: c.leave, "?": c.help,
  }[key];
  if (named) {
    return named;
  }
  if (/^[1-5]$/.test(key)) {
    return () => c.suggestion(Number(key) - 1);
  }
  if (/^[\p{L}\p{N}]$/u.test(key)) {
    return () => c.type(key);
  }
  return undefined;
}
