// A question is a dialog with some content and two buttons, a message one with one.
import { byId } from "./dom.js";

// question returns a promise of whether the answer was yes. content is an
// element.
export function question(title, content, yes) {
  byId("ask-no").hidden = false;
  return show(title, content, yes);
}

// tell returns a promise of the end of the dialog.
export function tell(title, content) {
  byId("ask-no").hidden = true;
  return show(title, content, "Close");
}

const dialog = byId("ask");
let answered = () => {}; // to the question that is shown

function show(title, content, yes) {
  answered(false); // one that was closed, whose event has not come yet
  byId("ask-title").textContent = title;
  byId("ask-body").replaceChildren(content);
  byId("ask-yes").textContent = yes;
  byId("ask-yes").disabled = false;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((done) => { answered = done; });
}

dialog.addEventListener("close", () => {
  if (!dialog.open) { // else the event is that of the question before
    answered(dialog.returnValue === "yes");
  }
});

byId("ask-no").addEventListener("click", () => dialog.close(""));
