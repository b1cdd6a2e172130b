// The status bar: how good the model is, whether everything is saved.
import { byId, count, countBoxes, element, percent, sentences } from "./dom.js";
import { reading } from "./reading.js";

export function showStatus(status) {
  if (status.boxes) {
    countBoxes();
  }
  byId("title").textContent = byId("title").title = status.title;
  document.title = status.title;
  const { found, embedded, failed, scanning } = status.images;
  const bar = byId("progress");
  bar.hidden = !scanning && embedded + failed >= found;
  bar.max = Math.max(1, found);
  bar.value = embedded + failed;
  const [counts, ...facts] = status.told;
  byId("quality").textContent = quality(status, counts);
  byId("found").replaceChildren(...sentences(facts));
  write("undo", status.undo, "Undo", "Nothing to undo");
  write("redo", status.redo, "Redo", "Nothing to redo");
  const problem = [status.problem, unread(status.images)].filter(Boolean).join(" ");
  byId("problem").hidden = !problem;
  byId("problem").textContent = problem;
  showSave(status);
  byId("quit-row").hidden = !status.may_quit;
  byId("runs").textContent = running(status);
  byId("bulk").disabled = !status.model.ready;
  if (status.start !== null) { // where all formats are
    byId("export").href = status.start + "#export";
    byId("export").removeAttribute("download");
  }
}

// running says what would end with the program.
function running({ images, refit, arranging, model }) {
  const work = [
    reading(images) && "photos are being read", refit.running && "the model is being updated",
    arranging !== null && "photos are being arranged", model.saving && "the model is being saved",
  ].filter(Boolean);
  return work.length > 0 ? `Now ${work.join(", ")}.` : "Nothing is being done now.";
}

function unread({ unread }) {
  return unread
    ? `The folder of photos cannot be read (${unread}). ` +
      "It is looked for every few seconds; until then its photos are only listed."
    : "";
}

function write(id, what, verb, none) {
  const button = byId(id);
  button.disabled = !what;
  button.title = what ? `${verb}: ${what}` : none;
}

// showSave says whether everything is saved. What went wrong may be mended by saving.
function showSave({ model: { unsaved, saving }, problem }) {
  const save = byId("save");
  save.disabled = saving || (unsaved === 0 && !problem);
  if (saving) {
    save.textContent = "Saving…";
  } else if (unsaved > 0) {
    save.replaceChildren("Save", element("span", { className: "word" }, ` (${count(unsaved)})`));
  } else {
    save.textContent = problem ? "Save" : "Saved";
  }
}

// quality says how far the photos are read, and what they are.
function quality({ images, boxes, account: { expected } }, counts) {
  const parts = [reading(images), counts].filter(Boolean);
  if (expected?.accuracy) {
    parts.push(`${percent(expected.accuracy)} expected right`);
  }
  if (boxes) {
    parts.push(`${count(boxes.empty)} of ${count(boxes.photos)} photos empty`);
  }
  if (boxes?.unlisted) {
    const them = boxes.unlisted === 1 ? "1 photo is" : `${count(boxes.unlisted)} photos are`;
    parts.push(`${them} not in the file of boxes`);
  }
  return parts.join(" · ");
}

// disconnected says that the server has gone.
export function disconnected() {
  byId("advice").textContent = "The server does not answer; trying again. What you decided is on its disk.";
  byId("follow").hidden = byId("dismiss").hidden = true;
}
