// What the model found, and why the page opens where it does. It stands above the photos until somebody decides or
// goes elsewhere.
import { isOver } from "./advice.js";
import { byId, sentences } from "./dom.js";

const box = byId("brief");
const roomy = matchMedia("(min-width: 701px) and (min-height: 621px)");

// opening is the view in which work pays most.
export function opening(status) {
  const { account: { next }, model, images } = status;
  const leads = model.ready && !images.scanning && ["unknown", "suspicious"].includes(next.do) && !isOver(status);
  return leads ? next.do : "check";
}

// showBrief writes what is known, if there is anything; where there is little room only the reason is seen at first.
export function showBrief({ brief, account: { next }, model }, wanted) {
  const was = box.hidden;
  box.hidden = !wanted || !model.ready || brief.length === 0;
  box.querySelector("summary").textContent = next.text;
  box.querySelector("ul").replaceChildren(...sentences(brief));
  if (was && !box.hidden) {
    box.open = roomy.matches;
  }
}
