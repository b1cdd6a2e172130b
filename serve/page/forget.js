// Forgetting photos, which cannot be undone: the question before and the answer.
import { element, photos } from "./dom.js";
import { question, tell } from "./question.js";

// askForget returns a promise of whether n photos are to be forgotten.
export function askForget(n) {
  return question(`Forget ${photos(n)}?`, element("div", {},
    element("p", {}, "Every decision about " + (n === 1 ? "it" : "them") + " leaves the history, and what was learned from " + (n === 1 ? "it" : "them") + " the model, as if never seen. The files stay in the folder."),
    element("p", {}, element("strong", {}, "This cannot be undone."))), "Forget", true);
}

// tellForgotten shows what was forgotten, and what the server cannot reach.
export function tellForgotten({ removed, left }) {
  return tell(removed === 0 ? "Nothing was known" : photos(removed) + " forgotten", element("div", {},
    element("p", {}, removed === 0 ? "Neither the history nor the model had learned anything. Not reached:" : "Not reached:"),
    element("ul", { className: "plain" }, ...left.map((text) => element("li", {}, text)))));
}
