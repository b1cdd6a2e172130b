// How alike near-duplicates are: a slider, and how many groups there are from each likeness on.
import { byId, count, percent, photos } from "./dom.js";

const slider = byId("alike");
let levels = []; // {alike, groups, photos}, the least alike first
let chosen; // undefined for what the server takes

// likeness is what the next question asks for.
export const likeness = () => chosen;

// showLikeness writes what the server answered.
export function showLikeness(answer) {
  levels = answer.levels;
  byId("likeness").hidden = levels.length === 0;
  slider.max = Math.max(0, levels.length - 1);
  slider.value = levels.findIndex(({ alike }) => Math.abs(alike - answer.alike) < 0.001);
  write();
}

function write() {
  const one = levels[slider.value];
  if (one) {
    const groups = one.groups === 1 ? "1 group" : `${count(one.groups)} groups`;
    const text = `${percent(one.alike)}: ${groups}, ${photos(one.photos)}`;
    byId("alike-counts").textContent = text;
    slider.setAttribute("aria-valuetext", text);
  }
}

// onLikeness calls back when another likeness is chosen; the counts follow at once.
export function onLikeness(changed) {
  slider.addEventListener("input", write);
  slider.addEventListener("change", () => {
    chosen = levels[slider.value]?.alike;
    changed();
  });
}
