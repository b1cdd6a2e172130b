// The status bar: how good the model is, whether everything is saved.
import { byId, count, countBoxes, element, percent, photos } from "./dom.js";

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
  byId("quality").textContent = quality(status, bar.hidden);
  write("undo", status.undo, "Undo", "Nothing to undo");
  write("redo", status.redo, "Redo", "Nothing to redo");
  const problem = [status.problem, unread(status.images)].filter(Boolean).join(" ");
  byId("problem").hidden = !problem;
  byId("problem").textContent = problem;
  showSave(status);
  byId("quit-row").hidden = !status.may_quit;
  const decided = status.labels.person + status.labels.bulk > 0;
  byId("found").textContent = decided ? "" : status.found.join(" · "); // of a model that is now another one
  byId("found").hidden = byId("found").textContent === "";
  byId("bulk").disabled = !status.model.ready;
  if (status.start !== null) { // where all formats are
    byId("export").href = status.start + "#export";
    byId("export").removeAttribute("download");
  }
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

function quality({ images, labels, boxes, checked, folder }, complete) {
  const parts = [];
  if (!complete) {
    parts.push(`${count(images.embedded)} of ${photos(images.found)} read`);
  }
  parts.push(`${count(labels.person)} decided by you` + (labels.bulk ? `, ${count(labels.bulk)} accepted` : ""));
  if (boxes) {
    const found = labels.detector === 1 ? "person or vehicle" : "persons or vehicles";
    parts.push(`by the detector ${count(labels.detector)} ${found}, `
      + `${count(boxes.empty)} of ${count(boxes.photos)} photos empty`);
  }
  if (boxes?.unlisted) {
    const them = boxes.unlisted === 1 ? "1 photo is" : `${count(boxes.unlisted)} photos are`;
    parts.push(`${them} not in the file of boxes`);
  }
  if (checked.recent !== null) {
    const last = Math.min(50, checked.n);
    parts.push(`${Math.round(checked.recent * last)} of your last ${last} were predicted right`);
  } else if (checked.n > 0) {
    parts.push(`${count(checked.correct)} of ${photos(checked.n)} predicted right`);
  }
  if (folder.accuracy !== null) { // held out of everything, which is the stricter test
    const range = `${Math.round(100 * folder.low)} to ${percent(folder.high)}`;
    const share = percent(Math.min(folder.accuracy, 0.99)); // nobody has checked them
    parts.push(`expect ${share} of the other ${photos(folder.n)} to be labelled right ` +
      `(${range}), if they show these classes`);
  }
  return parts.join(" · ");
}

// disconnected says that the server has gone.
export function disconnected() {
  byId("advice").textContent = "The server does not answer; trying again. What you decided is on its disk.";
  byId("follow").hidden = byId("dismiss").hidden = true;
}
