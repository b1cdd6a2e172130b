// The keys of the page. On the photos a letter begins the name of a class, so no letter is a
// command. A field that has the focus gets every key, and so does an open dialog; only the
// dialog of one photo has the keys of the grid.
import { byId, composing, element, isField, topDialog } from "./dom.js";

// Each row: what to press, what it does, and the command of each key. The help is
// written from it.
const table = [
  ["Arrow keys", "go to another photo, with Shift select up to it; on the map, to another place", {
    ArrowLeft: (c, range) => c.move(-1, 0, range), ArrowRight: (c, range) => c.move(1, 0, range),
    ArrowUp: (c, range) => c.move(0, -1, range), ArrowDown: (c, range) => c.move(0, 1, range),
  }],
  ["Page Up, Page Down, Home, End",
    "go a screen up or down, to the first or last photo; on the map, zoom, see all or what is selected", {
    PageUp: (c, range) => c.page(-1, range), PageDown: (c, range) => c.page(1, range),
    Home: (c, range) => c.end(-1, range), End: (c, range) => c.end(1, range),
  }],
  ["Enter", "accept the label, or the first suggestion, unless it is in doubt", { Enter: (c) => c.accept() }],
  ["0", "keep a label that is in doubt", { 0: (c) => c.keep() }],
  ["1 … 5", "take a suggestion",
    Object.fromEntries(Array.from("123456789", (digit) => [digit, (c) => c.suggestion(digit - 1)]))],
  ["Letters", "type a class: Enter takes the marked name, Shift+Enter exactly what was typed"],
  ["Tab", "go to the field for a class, for a name that does not begin with a letter"],
  ["Space", "select the photo or take it out of the selection", { " ": (c) => c.toggle() }],
  ["Ctrl+A", "select all photos that are loaded, or in sight on the map", { "Ctrl+a": (c) => c.selectAll() }],
  ["+", "all like this: show the most similar photos, those that probably belong together selected",
    { "+": (c) => c.like() }],
  [".", "later: show what has no label after all others", { ".": (c) => c.later() }],
  ["-", "not usable: of no class, never learned and never exported as one", { "-": (c) => c.unusable() }],
  ["&", "several things: a name for each; exported with all, never learned", { "&": (c) => c.several() }],
  ["Alt+Enter", "open the photo large, an event, or what is selected on the map", { "Alt+Enter": (c) => c.open() }],
  ["Delete, Backspace", "remove the label, or bring back what is not usable or for later",
    { Delete: (c) => c.unlabel(), Backspace: (c) => c.unlabel() }],
  ["Shift+Delete", "forget the photo: remove every trace of it that the model has",
    { "Shift+Delete": (c) => c.forget() }],
  ["Ctrl+Z", "undo", { "Ctrl+z": (c) => c.undo() }],
  ["Ctrl+Y, Ctrl+Shift+Z", "redo", { "Ctrl+y": (c) => c.redo(), "Ctrl+Shift+z": (c) => c.redo() }],
  ["<", "the history, to go back to a point of it", { "<": (c) => c.history() }],
  ["Esc", "clear the selection, or go back", { Escape: (c) => c.leave() }],
  ["?", "this help", { "?": (c) => c.help() }],
];

const commandOf = Object.assign({}, ...table.map(([, , commands]) => commands));

const moves = /^(Arrow|Page|Home|End)/;

export function writeHelp() {
  byId("keys-list").replaceChildren(...table.map(([keys, what]) =>
    element("div", {}, element("dt", {}, keys), element("dd", {}, what))));
}

// listenToKeys calls the commands. A key that is held moves on, but decides only once.
export function listenToKeys(commands) {
  document.addEventListener("keydown", (event) => {
    const dialog = topDialog();
    if (event.defaultPrevented || composing(event) || isField(event.target) || (dialog && dialog.id !== "photo")) {
      return;
    }
    const pressed = event.target.closest("button, a, summary") && (event.key === "Enter" || event.key === " ");
    const run = pressed ? undefined : command(event);
    if (run || (pressed && event.repeat)) {
      event.preventDefault();
    }
    if (run && (!event.repeat || moves.test(event.key))) {
      run(commands, event.shiftKey);
    }
  });
}

// command returns what a key does. ⌘ counts as Ctrl. Shift counts where the table has it;
// elsewhere it only makes another character.
function command(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const held = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + (event.altKey ? "Alt+" : "");
  const run = commandOf[held + (event.shiftKey ? "Shift+" : "") + key] ?? (held ? undefined : commandOf[key]);
  const letter = /^\p{L}$/u.test(event.key) && (!held || event.getModifierState("AltGraph"));
  return run ?? (letter ? (c) => c.type(event.key) : undefined);
}
