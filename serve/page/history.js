// The dialog of the history: when the model was updated or saved, what was decided
// before each, and the way back to it.
import * as api from "./api.js";
import { byId, count, element, photos } from "./dom.js";

const dialog = byId("history");
const when = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

// open shows the history. back is called with the line to go back to, look with one that
// accepted photos, to look through them.
export async function open(back, look) {
  const { points } = await api.points();
  byId("history-list").replaceChildren(...points.map((point, at) =>
    element("li", {}, ...entry(point, points[at - 1]?.seq ?? 1, at === points.length - 1, { back, look }))).reverse());
  byId("history-none").hidden = points.length > 0;
  dialog.showModal();
}

export function close() {
  dialog.close();
}

byId("history-close").addEventListener("click", close);

// entry describes a point, after the line before it; the last one is the present.
function entry(point, before, last, ways) {
  const what = point.saved ? "saved" : last ? "now" : "updated";
  const facts = [`${photos(point.labels)} decided by people`];
  if (point.new.length > 0) {
    facts.push("new: " + point.new.join(", "));
  }
  if (point.gone.length > 0) {
    facts.push("gone: " + point.gone.join(", "));
  }
  const time = element("strong", {}, when.format(new Date(point.time)));
  const title = element("p", {}, time, ` · ${what} · `, facts.join(" · "));
  const out = [element("div", { className: "row" }, title, last ? "" : way(point.seq, title.textContent, ways.back))];
  if (point.decisions > 0) {
    const lines = element("ol");
    const changes = point.decisions === 1 ? "1 change" : count(point.decisions) + " changes";
    const details = element("details", {}, element("summary", {}, changes), lines);
    details.addEventListener("toggle", () => {
      if (details.open && lines.childElementCount === 0) {
        fill(lines, point.seq + 1, before, last, ways);
      }
    });
    out.push(details);
  }
  return out;
}

// fill lists the lines between two points, the last one first, as many as the server
// sends at once.
async function fill(list, below, above, last, ways) {
  list.querySelector("button.more")?.parentElement.remove();
  const newest = last && list.childElementCount === 0; // the first line is the present
  let steps = [];
  try {
    steps = (await api.history({ before: below, limit: 100 })).history;
  } catch (error) {
    list.append(element("li", {}, error.message));
    return;
  }
  const these = steps.filter((step) => step.seq > above);
  list.append(...these.filter((step) => step.do !== "refit" && step.do !== "save").map((step, at) =>
    element("li", { className: step.undone ? "row undone" : "row" },
      element("p", {},
        element("small", {}, count(step.seq) + " "), element("span", {}, step.text),
        step.undone ? element("small", {}, " taken back") : ""),
      step.do === "accept" && !step.undone ? through(step, ways.look) : "",
      newest && at === 0 ? "" : way(step.seq, step.text, ways.back))));
  if (these.length === steps.length && steps.length > 0 && steps.at(-1).seq > above + 1) {
    const more = element("button", { type: "button", className: "more" }, "Show earlier changes");
    more.addEventListener("click", () => fill(list, steps.at(-1).seq, above, last, ways));
    list.append(element("li", {}, more));
  }
}

function way(seq, what, back) {
  const button = element("button", { type: "button", "aria-label": "Go back to here: " + what }, "Go back to here");
  button.addEventListener("click", () => back(seq));
  return button;
}

function through(step, look) {
  const button = element("button", { type: "button", "aria-label": "Look through: " + step.text }, "Look through");
  button.addEventListener("click", () => look(step.seq));
  return button;
}
