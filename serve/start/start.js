// The start page: what is open and what is being done is asked of the server, again and again
// while something is; everything else is a form.
import { ask } from "./api.js";
import { Changes } from "./changes.js";
import { byId, count, element, photos, say } from "./dom.js";
import { chooseFolder } from "./folders.js";
import { chosenNetwork, listNetworks } from "./networks.js";
import { released } from "./pointer.js";
import { question } from "./question.js";
import { expectTask, hideTask, showTask } from "./task.js";

let state = { task: null, project: null, lost: null, recent: [], formats: [], suggested: "", logs: [] };
let watched = ""; // the kind of task whose end this page waits for
const atOnce = ["unlist", "cancel"]; // all other requests begin a task of that kind
const changes = new Changes();
let ended = false;

// act asks for something and then shows what has become of it.
async function act(path, json) {
  try {
    await changes.ask(() => ask("POST", path, { json }));
    if (!atOnce.includes(path)) {
      watched = path;
      expectTask();
    }
  } catch (error) {
    say(error.message, true);
  }
  return look();
}

let timer;
let asked = 0;

// look shows the answer to the last question: an earlier one may be late, and know nothing of
// what has begun since.
async function look() {
  clearTimeout(timer);
  const turn = ++asked;
  let now;
  try {
    now = await ask("GET", "state");
  } catch (error) {
    if (turn === asked && !ended) {
      say(error.message, true);
      timer = setTimeout(look, 10_000); // a machine that wakes up has lost its connections
    }
    return;
  }
  await released(); // what is under a click stays
  if (turn !== asked) {
    return;
  }
  state = now;
  const running = state.task?.running;
  if (running) {
    watched = state.task.kind;
    timer = setTimeout(look, 300);
  } else if (watched) {
    const { kind, error, cancelled } = state.task;
    watched = "";
    if ((kind === "begin" || kind === "open") && !error && !cancelled && state.project) {
      location.assign(state.project.page);
      return;
    }
    if (kind === "setup" || kind === "network") {
      listNetworks();
    }
  }
  show(running);
}

function show(running) {
  showTask(state.task);
  showFormats();
  byId("lost").hidden = !state.lost || running;
  if (state.lost) {
    byId("lost-title").textContent = state.lost.name;
    byId("lost-was").textContent = "They were in " + state.lost.images + ".";
  }
  showProject(state.project, running);
  showResults(running ? null : state.project?.results);
  for (const of of ["now", "last"]) {
    byId("log-" + of).hidden = !state.logs.includes(of);
  }
  byId("logs").hidden = state.logs.length === 0;
  showRecent(running);
  byId("new").hidden = state.project !== null;
  byId("begin").disabled = running;
  byId("setup").disabled = running;
}

function showProject(project, running) {
  byId("project").hidden = !project;
  if (!project) {
    return;
  }
  byId("project-name").textContent = project.name;
  byId("project-images").textContent = project.images;
  byId("project-dir").textContent = project.dir;
  byId("project-page").href = project.page;
  byId("project-close").disabled = byId("project-merge").disabled = running;
  byId("export").querySelector("[type=submit]").disabled = running;
  const form = byId("export");
  if (form.dataset.project !== project.dir) { // the folder of another project is none for this one
    form.dataset.project = project.dir;
    byId("export-out").value = project.exports;
  }
}

// showResults links what the last export wrote.
function showResults(results) {
  byId("results").hidden = !results;
  const open = results?.files.map(({ name, is }) => element("a", { className: "button", href: "results/" + name,
    target: name.endsWith(".html") ? "_blank" : "", rel: "noopener" },
    `Open ${is} `, element("small", {}, name))) ?? [];
  byId("results-list").replaceChildren(...open);
  byId("results-dir").textContent = results?.dir ?? "";
  byId("results-show").hidden = !results?.shown;
}

byId("results-show").addEventListener("click", () =>
  ask("POST", "show").catch((error) => say(error.message, true)));

let listed = ""; // the rows of recent projects: one that has the focus stays as long as nothing changes

function showRecent(running) {
  const others = state.recent.filter(({ dir }) => dir !== state.project?.dir);
  byId("recent").hidden = state.project !== null && others.length === 0;
  byId("recent-none").hidden = others.length > 0;
  const rows = JSON.stringify([others, running]);
  if (rows === listed) {
    return;
  }
  listed = rows;
  byId("recent-list").replaceChildren(...others.map(({ name, dir, missing }) => {
    const where = missing ? "not there: " + dir : dir;
    const open = element("button", { type: "button", disabled: missing || running, title: name + "\n" + where },
      element("b", {}, name), element("small", {}, where));
    open.addEventListener("click", () => act("open", { dir, images: "" }));
    const remove = element("button", { type: "button", "aria-label": `Remove ${name} from this list`,
      title: "Remove from this list; its files stay" }, "×");
    remove.addEventListener("click", () => act("unlist", { dir }));
    return element("li", {}, open, remove);
  }));
}

// formats says what each is for.
const formats = {
  csv: "a table, for spreadsheets", jsonl: "lines of JSON, for programs", parquet: "a table, for data frames",
  xlsx: "a workbook, for Excel and its like",
  imagefolder: "for Hugging Face datasets", coco: "for detection tools", "label-studio": "for Label Studio",
  "camtrap-dp": "for camera traps",
};

function showFormats() {
  if (byId("formats").childElementCount > 0) { // some may be chosen
    return;
  }
  byId("formats").replaceChildren(...state.formats.map((name) => element("label", {},
    element("input", { type: "checkbox", name: "format", value: name, checked: name === "csv" }),
    element("span", {}, name, " ", element("small", {}, formats[name] ?? "")))));
}

// The folder of the photos.
let counted = 0;

async function lookAtImages() {
  const path = byId("images").value.trim();
  const turn = ++counted;
  byId("images-count").textContent = "";
  if (!path) {
    return;
  }
  let text;
  let name = "";
  try {
    const found = await ask("GET", "folders", { query: { path } });
    ({ name } = found);
    text = `${found.more ? "At least " : "About "}${photos(found.photos)} there and in the folders below.`;
    const folders = found.folders.filter((f) => f.photos > 0).length;
    if (folders > 1) {
      text += ` ${count(folders)} folders have some.`;
    }
  } catch (error) {
    text = error.message;
  }
  if (turn !== counted) { // somebody has chosen another folder since
    return;
  }
  byId("images-count").textContent = text;
  if (name) {
    byId("dir").value ||= within(state.suggested, name + ".project");
  }
}

const within = (dir, name) => dir + (dir.includes("\\") ? "\\" : "/").slice(/[\\/]$/.test(dir) ? 1 : 0) + name;

// choosing makes a button choose the folder of a field.
function choosing(button, field, title, then = () => {}) {
  byId(button).addEventListener("click", async () => {
    const path = await chooseFolder(title, byId(field).value.trim());
    if (path) {
      byId(field).value = path;
      then();
    }
  });
}

choosing("images-choose", "images", "The folder of the photos", () => {
  byId("dir").value = "";
  lookAtImages();
});
choosing("examples-choose", "examples", "The folder with the class folders");
choosing("export-choose", "export-out", "Where the labels go");
byId("images").addEventListener("change", lookAtImages);

const chosenWith = () => byId("new").elements.with.value;

function showWith() {
  const network = chosenNetwork();
  const texts = network?.texts ?? false;
  const names = byId("new").querySelector("[value=names]");
  names.disabled = !texts;
  names.closest("label").className = texts ? "" : "off";
  byId("names-why").textContent = texts
    ? "The names of the classes alone; photos that you decide are added."
    : "Needs a network that reads words, such as clip-b32.";
  if (names.checked && !texts) {
    byId("new").querySelector("[value=nothing]").checked = true;
  }
  byId("examples-path").hidden = chosenWith() !== "folders";
  byId("names-path").hidden = chosenWith() !== "names";
  if (chosenWith() === "folders") {
    byId("examples").value ||= byId("images").value;
  }
  byId("examples").required = chosenWith() === "folders";
  byId("names").required = chosenWith() === "names";
}

byId("new").addEventListener("change", showWith);
byId("networks").addEventListener("listed", showWith);
byId("networks").addEventListener("wanted", ({ detail: name }) => act("network", { name }));
byId("setup").addEventListener("click", () => act("setup"));

byId("new").addEventListener("submit", (event) => {
  event.preventDefault();
  act("begin", {
    images: byId("images").value.trim(), dir: byId("dir").value.trim(), network: chosenNetwork()?.name ?? "",
    with: chosenWith(), examples: chosenWith() === "folders" ? byId("examples").value.trim() : "",
    names: chosenWith() === "names" ? byId("names").value.split("\n") : [],
  });
});

byId("export").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  if (form.getAll("format").length === 0) {
    say("Choose a format first.", true);
    return;
  }
  act("export", {
    formats: form.getAll("format"), out: form.get("out"), only: form.has("only") ? "decided" : "",
    organise: form.get("organise"), split: form.get("split"), report: form.has("report"),
  });
});

byId("task-cancel").addEventListener("click", () => act("cancel"));
byId("task-hide").addEventListener("click", () => {
  hideTask();
  byId("main").focus();
});
byId("project-close").addEventListener("click", () => act("close"));
byId("project-merge").addEventListener("click", async () => {
  const dir = await chooseFolder("The project to merge into this one", state.suggested, { project: true });
  if (!dir) {
    return;
  }
  const choice = (value, text) => element("label", {},
    element("input", { type: "radio", name: "prefer", value }), element("span", {}, text));
  const name = dir.split(/[\\/]/).at(-1).replace(/\.project$/, "");
  const content = element("div", { className: "choices" },
    element("p", {}, `What was decided in the project you are adding, ${name}, comes into this project, `
      + `${state.project.name}, as one change that undo takes back. Where a photo has another label in each:`),
    choice("", "change nothing, and name such photos"),
    choice("decisions", `keep the label of this project, ${state.project.name}`),
    choice("list", `take the label of the project you are adding, ${name}`));
  if (await question(`Add ${name} to ${state.project.name}`, content, "Merge", { choose: true })) {
    act("merge", { dir, prefer: content.querySelector("input:checked").value });
  }
});
byId("open-other").addEventListener("click", async () => {
  const dir = await chooseFolder("Open a project", state.suggested, { project: true });
  if (dir) {
    act("open", { dir, images: "" });
  }
});
byId("lost-choose").addEventListener("click", async () => {
  const images = await chooseFolder("Where the photos are now", state.lost.near);
  if (images) {
    act("open", { dir: state.lost.dir, images });
  }
});

byId("stop").addEventListener("click", async () => {
  const words = element("p", {}, "What you decided is kept, and the model is saved. A task that runs is cancelled.");
  if (!(await question("Quit?", words, "Quit"))) {
    return;
  }
  ended = true;
  clearTimeout(timer);
  await ask("POST", "stop").catch(() => {});
  byId("main").replaceChildren(element("p", { className: "card", role: "status" },
    "The program has ended. You can close this window."));
  byId("stop").disabled = true;
});

addEventListener("pageshow", ({ persisted }) => persisted && look()); // the browser goes back to this page
await look();
listNetworks();
if (location.hash === "#export" && state.project) {
  byId("export-title").scrollIntoView();
  byId("export-title").focus();
}
