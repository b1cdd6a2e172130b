// Forgetting photos, which cannot be undone: the question before and the answer.
import { element, photos } from "./dom.js";
import { question, tell } from "./question.js";

// askForget returns a promise of whether n photos are to be forgotten.
export function askForget(n) {
  const them = n === 1 ? "it" : "them";
  return question(`Forget ${photos(n)}?`, element("div", {},
    element("p", {}, `Every decision about ${them} leaves the history, and what was learned from ${them} `
      + "the model, as if never seen. The files stay in the folder."),
    element("p", {}, element("strong", {}, "This cannot be undone."))), "Forget", { grave: true });
}

// tellForgotten shows what was forgotten, and what the server cannot reach.
export function tellForgotten({ removed, left }) {
  const nothing = removed === 0 ? "Neither the history nor the model had learned anything. " : "";
  return tell(removed === 0 ? "Nothing was known" : photos(removed) + " forgotten", element("div", {},
    element("p", {}, nothing + "Not reached:"),
    element("ul", { className: "plain" }, ...left.map((text) => element("li", {}, text)))));
}
