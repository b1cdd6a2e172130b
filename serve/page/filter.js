// The filter: a panel with what selects photos, and above the photos a chip for each part of it that is active.
import { byId, element, photos } from "./dom.js";

// states say what may have been decided about a photo.
export const states = {
  person: "One by one", bulk: "Accepted in bulk", list: "By a folder or list", detector: "By the detector",
  unusable: "Not usable", several: "Several things", later: "For later", model: "By the model alone",
  unknown: "Looks unknown", unreadable: "Unreadable",
};

const form = byId("search");
const panel = form.querySelector("details");
const names = {
  q: "Name", folder: "Folder", taken_since: "From", taken_until: "To", class: "Class", taken: "Taken for",
  state: "Decided", least: "At least %", most: "At most %",
};

form.elements.state.append(...Object.entries(states).map(([value, text]) => element("option", { value }, text)));

// asked is the query that the fields make; the order is none of what selects.
export function asked() {
  const fields = [...new FormData(form)];
  return Object.fromEntries(fields.filter(([, value]) => typeof value === "string" && value !== ""));
}

// selects is the part of a query that selects photos.
export const selects = ({ order, ...rest }) => rest;

export const isActive = (query) => Object.keys(selects(query)).length > 0;

// told says a filter in words.
export const told = (query) => Object.entries(selects(query)).map(([name, value]) =>
  `${names[name]} ${name === "state" ? states[value] : value}`).join(", ");

// showChips writes a chip for each active part, with how many photos match, if that is known. changed is called when
// one is taken away.
export function showChips(query, total, changed) {
  const box = byId("chips");
  box.hidden = !isActive(query);
  const chips = Object.entries(selects(query)).map(([name, value]) => {
    const text = `${names[name]}: ${name === "state" ? states[value] : value} ×`;
    return chip(text, "Take away", () => { form.elements[name].value = ""; changed(); });
  });
  const clear = chip("Clear", "Clear the filter", () => {
    Object.keys(names).forEach((name) => { form.elements[name].value = ""; });
    changed();
  });
  box.replaceChildren(...chips, element("span", {}, total === null ? "" : photos(total)), clear);
}

function chip(text, title, run) {
  const button = element("button", { type: "button", title }, text);
  button.addEventListener("click", run);
  return button;
}

// choose fills a field.
export function choose(name, value) {
  form.elements[name].value = value;
}

// offer lists the classes for the field of the class.
export function offer(classes) {
  byId("filter-classes").replaceChildren(...classes.map((value) => element("option", { value })));
}

// The panel closes with Escape and with a click elsewhere.
document.addEventListener("pointerdown", (event) => {
  if (panel.open && !panel.contains(event.target)) {
    panel.open = false;
  }
});
panel.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && panel.open) {
    panel.open = false;
    panel.querySelector("summary").focus();
    event.stopPropagation();
  }
});
