// A question is a dialog with some content and two buttons.
import { byId } from "./dom.js";

// question returns a promise of whether the answer was yes. content is an
// element.
export function question(title, content, yes) {
  const dialog = byId("ask");
  byId("ask-title").textContent = title;
  byId("ask-body").replaceChildren(content);
  byId("ask-yes").textContent = yes;
  byId("ask-yes").disabled = false;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((done) => {
    dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true });
  });
}

byId("ask-no").addEventListener("click", () => byId("ask").close(""));
