// What to do next. Advice ends when it is followed, and when it is dismissed: then it stays
// away for this model, in this browser.
import { byId } from "./dom.js";

const leading = ["check", "unknown", "suspicious", "more", "accept"];
const stored = (status) => "dismissed " + status.title + " " + status.model.name;

// nameOf tells the advice of a status from others.
export const nameOf = ({ account: { next: { do: what, class: name } } }) => what + (name ? " " + name : "");

// isOver reports whether somebody has dismissed the advice of a status.
export const isOver = (status) => dismissed(status).includes(nameOf(status));

// showAdvice writes the advice of a status, unless somebody has followed it and is there.
export function showAdvice(status, followed) {
  const { do: what, text } = status.account.next;
  const over = followed || isOver(status);
  byId("advice").textContent = [over ? "" : text, status.refit.running ? "The model is being updated." : ""]
    .filter(Boolean).join(" ");
  byId("follow").hidden = over || !leading.includes(what);
  byId("dismiss").hidden = over || !(leading.includes(what) || what === "stop");
}

// dismiss keeps the advice of a status away.
export function dismiss(status) {
  try {
    localStorage.setItem(stored(status), JSON.stringify([...dismissed(status), nameOf(status)]));
  } catch { // a browser that keeps nothing: it stays away until the page is loaded again
    unkept.push(nameOf(status));
  }
}

const unkept = [];

function dismissed(status) {
  try {
    return [...unkept, ...JSON.parse(localStorage.getItem(stored(status)) ?? "[]")];
  } catch {
    return unkept;
  }
}
