// Choosing a folder of the machine that the program runs on.
import { ask } from "./api.js";
import { byId, count, element, photos } from "./dom.js";

const dialog = byId("folders");
let now = null; // the folder that is shown
let finish = () => {};

// chooseFolder returns a promise of the path of a folder, "" for none. It begins at a path,
// or at the user's home. A project is only a folder that has one.
export async function chooseFolder(title, path, { project = false } = {}) {
  byId("folders-title").textContent = title;
  byId("folders-yes").textContent = project ? "Open this project" : "Choose this folder";
  dialog.dataset.project = project;
  dialog.showModal();
  if (!(await go(path))) {
    await go("");
  }
  byId("folders-path").select(); // what is typed replaces it
  return new Promise((done) => { finish = done; });
}

let turns = 0;

// go shows a folder; what cannot be read is said, and the folder before stays.
async function go(path) {
  const turn = ++turns;
  byId("folders-about").textContent = "Looking…";
  try {
    const found = await ask("GET", "folders", { query: { path } });
    if (turn === turns) {
      now = found;
      show();
    }
    return true;
  } catch (error) {
    if (turn === turns) {
      byId("folders-about").textContent = error.message;
    }
    return false;
  }
}

function show() {
  byId("folders-path").value = now.path;
  byId("folders-about").textContent = about();
  byId("folders-yes").disabled = dialog.dataset.project === "true" && !now.project;
  byId("folders-places").replaceChildren(...now.places.map(({ name, path }) =>
    element("li", {}, entering(path, path, {}, name))));
  const rows = now.folders.map((f) => element("li", {}, row(f)));
  if (now.parent !== null) {
    rows.unshift(element("li", {}, entering(now.parent, "Up to " + now.parent, {}, element("b", {}, "Up one folder"))));
  }
  byId("folders-list").replaceChildren(...rows);
  byId("folders-list").scrollTop = 0;
}

function about() {
  const parts = [];
  if (now.asked) {
    parts.push(`${now.asked} is a link to here.`);
  }
  if (now.project) {
    parts.push("This is a project.");
  }
  parts.push(`${now.more ? "At least" : "About"} ${photos(now.photos)} here and in the folders below.`);
  if (now.left_off > 0) {
    parts.push(`${count(now.left_off)} more folders are not listed: type the path of one.`);
  }
  return parts.join(" ");
}

function row(f) {
  const note = f.error ?? (f.link ? "link to " + f.link : f.project ? "project" : holds(f));
  return entering(f.path, f.name, { disabled: f.error !== null }, element("b", {}, f.name), element("small", {}, note));
}

const holds = ({ photos: n, more }) => (n > 0 ? (more ? "at least " : "about ") + photos(n) : "");

function entering(path, title, properties, ...content) {
  const button = element("button", { type: "button", title, ...properties }, ...content);
  button.addEventListener("click", async () => {
    if (await go(path)) {
      (byId("folders-list").querySelector("button:enabled") ?? byId("folders-path")).focus();
    }
  });
  return button;
}

byId("folders-go").addEventListener("submit", (event) => {
  event.preventDefault();
  go(byId("folders-path").value.trim());
});

function close(path) {
  dialog.close(path);
}

byId("folders-yes").addEventListener("click", () => close(now.path));
byId("folders-no").addEventListener("click", () => close(""));
byId("folders-close").addEventListener("click", () => close(""));
dialog.addEventListener("close", () => {
  turns++;
  finish(dialog.returnValue);
  dialog.returnValue = "";
});
