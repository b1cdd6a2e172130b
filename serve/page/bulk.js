// Accepting every prediction above a probability, and what is wrong of it to expect.
import * as api from "./api.js";
import { byId, count, element, photos } from "./dom.js";
import { isActive, told } from "./filter.js";
import { question } from "./question.js";

// spots is the number of photos that a spot check draws.
export const spots = 20;

// askBulk returns a promise of {above, class, check}: whether to draw photos to check rather
// than to accept; or of null if nothing is to be done. name is a class, or undefined for
// all; within is what the filter selects, to which it keeps. After a spot check, above is where it was; whoever goes on
// pressing Enter then does not accept the rest without a look. Before one, the check is what is offered first.
export async function askBulk(name, { above, within }) {
  const slider = element("input", {
    type: "range", min: 50, max: 99.5, step: 0.5, value: (above ?? 0.95) * 100,
    id: "above", "aria-describedby": "outlook",
  });
  const value = element("output", { for: "above" });
  const outlook = element("p", { id: "outlook", role: "status" });
  let check = false;
  const filtered = isActive(within);
  const spot = element("button", { type: "button", id: "spot-check" }, `Check ${spots} of them first`);
  spot.addEventListener("click", () => {
    check = true;
    byId("ask").close("yes");
  });
  let asked = 0;
  let first = !above && !filtered;
  let n = 0;
  const look = async () => {
    const turn = ++asked;
    value.textContent = slider.value + " %";
    byId("ask-yes").disabled = true;
    spot.disabled = true;
    try {
      const answer = await api.previewAccept(slider.value / 100, name, within);
      if (turn === asked) {
        n = answer.images;
        byId("ask-yes").disabled = n === 0;
        spot.disabled = n === 0;
        spot.hidden = filtered || (n > 0 && n < spots);
        outlook.replaceChildren(...words(answer));
        const check = !filtered && !spot.hidden && answer.checked.n === 0;
        byId("ask-yes").classList.toggle("primary", !check);
        spot.classList.toggle("primary", check);
        if (first && check && !spot.disabled) { // to press Enter at once is to check, not to trust
          spot.focus();
        }
        first = false;
      }
    } catch (error) {
      outlook.textContent = error.message;
    }
  };
  slider.addEventListener("input", look);
  const where = filtered ? ` of the filter (${told(within)})` : "";
  const which = name ? `the predictions “${name}”` : "every prediction";
  const content = element("div", {},
    element("p", {}, `Accept ${which}${where} whose probability is at least`),
    element("p", { className: "row" },
      element("label", { className: "hidden-text", for: "above" }, "Least probability"), slider, value),
    outlook, element("p", {}, filtered ? "A check draws from all photos: clear the filter to make one." : spot),
    element("p", {}, "Photos that look unknown are left out, however probable a class is."));
  const answer = question("Accept many", content, "Accept");
  answer.then(() => { asked++; }); // what comes later is about no other question
  if (above) {
    byId("ask-no").focus();
  }
  look();
  return (await answer) && n > 0 ? { above: slider.value / 100, class: name, check } : null;
}

function words({ images, expected_wrong: wrong, low, high, checked }) {
  if (images === 0) {
    return ["No undecided photo that looks like one of the classes is that sure."];
  }
  const out = [
    element("strong", {}, photos(images)),
    `, of which about ${count(Math.round(wrong))} are wrong, `,
    `likely ${count(Math.floor(low))} to ${count(Math.ceil(high))}. `,
  ];
  if (checked.n > 0) {
    out.push(`${count(checked.correct)} of ${count(checked.n)} that were drawn at random and checked are right.`);
  } else {
    out.push("Nobody has checked: that is what the model thinks, ",
      "and it does not know how many photos show something that nobody has named.");
  }
  return out;
}
