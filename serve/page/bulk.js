// Accepting every prediction above a probability, with the precision to expect.
import * as api from "./api.js";
import { byId, element, percent, photos } from "./dom.js";
import { question } from "./question.js";

// askBulk returns a promise of {above, class}, or of null if nothing is to be
// accepted. name is a class, or undefined for all.
export async function askBulk(name) {
  const slider = element("input", { type: "range", min: 50, max: 99.5, step: 0.5, value: 95, id: "above", "aria-describedby": "outlook" });
  const value = element("output", { for: "above" });
  const outlook = element("p", { id: "outlook", role: "status" });
  let asked = 0;
  let n = 0;
  const look = async () => {
    const turn = ++asked;
    value.textContent = slider.value + " %";
    byId("ask-yes").disabled = true;
    try {
      const answer = await api.previewAccept(slider.value / 100, name);
      if (turn === asked) {
        n = answer.images;
        byId("ask-yes").disabled = n === 0;
        outlook.replaceChildren(...words(answer));
      }
    } catch (error) {
      outlook.textContent = error.message;
    }
  };
  slider.addEventListener("input", look);
  const content = element("div", {},
    element("p", {}, name ? `Accept the predictions “${name}” whose probability is at least` : "Accept every prediction whose probability is at least"),
    element("p", { className: "row" }, element("label", { className: "hidden-text", for: "above" }, "Least probability"), slider, value), outlook,
    element("p", {}, "Photos that look unknown are left out, however probable a class is."));
  const answer = question("Accept many", content, "Accept");
  look();
  return (await answer) && n > 0 ? { above: slider.value / 100, class: name } : null;
}

function words({ images, precision, checked }) {
  if (images === 0) {
    return ["No undecided photo that looks like one of the classes is that sure."];
  }
  const out = [element("strong", {}, photos(images)), `, of which about ${percent(precision)} are right: expect ${photos(Math.round(images * (1 - precision)))} to be wrong.`];
  if (checked.n > 0) {
    out.push(` Of ${checked.n} that sure which you checked, ${checked.correct} were right.`);
  }
  return out;
}
