// Elements and texts. Names of files and classes only ever become text nodes
// and attribute values, never markup.

export const byId = (id) => document.getElementById(id);

// element makes an element; properties whose name has a dash, and role, are
// attributes, and children may be strings.
export function element(name, properties = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "role" || key === "for") {
      e.setAttribute(key, value);
    } else {
      e[key] = value;
    }
  }
  e.append(...children);
  return e;
}

// isField reports whether an element has a use of its own for keys: text, a date, a choice.
export const isField = (e) => e.isContentEditable || e.matches("input, select, textarea");

// composing reports whether a key is part of a sign that an input method is composing.
export const composing = (event) => event.isComposing || event.keyCode === 229;

// topDialog returns the open dialog that is seen, if there is one.
export const topDialog = () => Array.from(document.querySelectorAll("dialog[open]")).at(-1);

const whole = new Intl.NumberFormat("en");

export const count = (n) => whole.format(n);

let unit = ["photo", "photos"];

// countBoxes says that what is counted are boxes in photos.
export function countBoxes() {
  unit = ["box", "boxes"];
}

export const photos = (n) => (n === 1 ? "1 " + unit[0] : `${count(n)} ${unit[1]}`);

// sentences are the items of a list, each of which begins with a capital letter.
export const sentences = (lines) =>
  lines.map((line) => element("li", {}, line.charAt(0).toUpperCase() + line.slice(1)));

// percent never rounds up to certainty.
export function percent(share) {
  if (share > 0.99 && share < 1) {
    return (Math.floor(share * 1000) / 10).toFixed(1) + " %";
  }
  return Math.round(share * 100) + " %";
}

// say shows a message for a few seconds; screen readers read it out. It replaces the one before,
// but something bad stays its time. A dialog that is open would hide what is not in it.
export function say(text, bad = false) {
  const box = byId("said");
  const top = topDialog() ?? document.body;
  if (box.parentElement !== top) {
    top.append(box);
  }
  const old = Array.from(box.children).filter((p) => p.className === "" || p.textContent === text);
  const message = element("p", { className: bad ? "bad" : "" }, text);
  old.forEach((p) => p.remove());
  box.append(message);
  setTimeout(() => message.remove(), bad ? 9000 : 4000);
}
