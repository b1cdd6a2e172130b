// What is being done, or was done last.
import { byId, count, element } from "./dom.js";

const titles = {
  setup: "Getting libraries and a network", network: "Getting a network", begin: "Beginning the project",
  open: "Opening the project", export: "Labelling all photos", merge: "Merging another project",
  close: "Closing the project",
};

let shown = ""; // "running", "done", or "" for a task of before this page

// expectTask says that a task was begun here, which may have ended already.
export function expectTask() {
  shown = "expected";
}

// hideTask hides what is done.
export function hideTask() {
  shown = "";
  byId("task").hidden = true;
}

export function showTask(task) {
  const quiet = !task || (!task.running && !task.error && !task.cancelled && task.lines.length === 0);
  if (quiet || (!task.running && shown === "" && !task.error)) { // of before this page
    byId("task").hidden = true;
    return;
  }
  byId("task").hidden = false;
  byId("task-title").textContent = titles[task.kind] ?? task.kind;
  const bar = byId("task-progress");
  bar.hidden = !task.running;
  if (task.total > 0) {
    bar.max = task.total;
    bar.value = task.done;
  } else {
    bar.removeAttribute("value");
  }
  byId("task-state").className = task.error ? "bad" : "";
  const text = words(task);
  if (byId("task-state").textContent !== text) { // a screen reader says it again otherwise
    byId("task-state").textContent = text;
  }
  showConflicts(task.conflicts);
  byId("task-lines").replaceChildren(...task.lines.map((line) => element("li", {}, line)));
  byId("task-cancel").hidden = !task.running;
  byId("task-hide").hidden = task.running;
  if (shown === "expected" || (task.running && shown === "")) {
    byId("task-title").scrollIntoView({ block: "nearest" });
    byId("task-title").focus({ preventScroll: true });
  }
  shown = task.running ? "running" : "done";
}

// showConflicts shows side by side what two projects say of the same photos.
function showConflicts(conflicts) {
  byId("conflicts").hidden = !conflicts;
  const { this: mine = "", other = "", all = 0, photos = [] } = conflicts ?? {};
  byId("conflicts-title").textContent = photos.length < all
    ? `The first ${count(photos.length)} of ${count(all)} photos` : "Two opinions";
  byId("conflicts-head").replaceChildren(...["Photo", mine, other].map((text) =>
    element("th", { scope: "col" }, text)));
  byId("conflicts-rows").replaceChildren(...photos.map((one) => element("tr", {},
    element("td", {}, element("img", { src: `photos/v1/images/${one.id}/thumb`, alt: "", width: 96, height: 96,
      loading: "lazy" }), element("small", {}, one.name)), element("td", {}, one.this), element("td", {}, one.other))));
}

function words({ kind, running, error, cancelled, unit, done, total }) {
  if (running) {
    return amount(unit, done, total);
  }
  if (error) {
    return error;
  }
  if (cancelled) {
    const lost = kind === "setup" || kind === "network"; // what pip had fetched
    return lost ? "Cancelled." : "Cancelled. What was done is kept: begin it again to go on.";
  }
  return "Done.";
}

function amount(unit, done, total) {
  if (unit === "bytes") {
    const megabytes = (n) => (n / 1e6).toFixed(1);
    return megabytes(done) + (total > 0 ? " of " + megabytes(total) : "") + " MB";
  }
  return unit ? count(done) + (total > 0 ? " of " + count(total) : "") + " " + unit : "Working…";
}
