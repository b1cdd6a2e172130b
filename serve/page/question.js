// A question is a dialog with some content and two or three buttons, a message one with one.
import { byId } from "./dom.js";

// question returns a promise of the answer: "yes", "other" if there is another one to give,
// or "" for no. content is an element. What is grave cannot be undone: the answer to give
// without looking is then no. Where something has to be chosen first, no button is that of Enter, and
// yes cannot be pressed before.
export function question(title, content, yes, { grave = false, other = "", choose = false } = {}) {
  byId("ask-no").hidden = false;
  byId("ask-other").textContent = other;
  byId("ask-other").hidden = other === "";
  const answer = show(title, content, yes, grave);
  if (grave) {
    byId("ask-no").focus();
  }
  if (choose) {
    byId("ask-yes").className = "";
    byId("ask-yes").disabled = true;
    content.addEventListener("change", () => { byId("ask-yes").disabled = false; }, { once: true });
  }
  return answer;
}

// tell returns a promise of the end of the dialog.
export function tell(title, content) {
  byId("ask-no").hidden = byId("ask-other").hidden = true;
  return show(title, content, "Close", false);
}

const dialog = byId("ask");
let answered = () => {}; // to the question that is shown

function show(title, content, yes, grave) {
  answered(""); // one that is open still
  byId("ask-title").textContent = title;
  byId("ask-body").replaceChildren(content);
  byId("ask-yes").textContent = yes;
  byId("ask-yes").disabled = false;
  byId("ask-yes").className = grave ? "grave" : "primary";
  byId("ask-no").className = grave ? "primary" : "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((done) => { answered = done; });
}

dialog.addEventListener("close", () => {
  if (!dialog.open) { // else the event is that of the question before
    answered(dialog.returnValue);
  }
});

// Enter presses the blue button wherever a button has not the focus: not every browser does
// that in a list of choices.
dialog.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.isComposing && !event.target.closest("button, textarea")) {
    event.preventDefault();
    dialog.querySelector(".primary")?.click();
  }
});

// close answers at once: the event of a dialog that closes comes after the next key may have.
function close(answer) {
  dialog.close(answer);
  answered(answer);
}

byId("ask-form").addEventListener("submit", (event) => {
  event.preventDefault();
  close("yes");
});
byId("ask-no").addEventListener("click", () => close(""));
byId("ask-other").addEventListener("click", () => close("other"));
