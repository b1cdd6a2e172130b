// The page: which view is shown, what a decision is about, and what follows it.
import { showAct } from "./act.js";
import * as advice from "./advice.js";
import * as api from "./api.js";
import { opening, showBrief } from "./brief.js";
import { askBulk, spots } from "./bulk.js";
import { Changes } from "./changes.js";
import { Classes } from "./classes.js";
import { byId, count, element, isField, photos, say } from "./dom.js";
import { onExample } from "./example.js";
import * as filter from "./filter.js";
import { askForget, tellForgotten } from "./forget.js";
import { Grid } from "./grid.js";
import { duplicates, focusedGroup, members, showGroups, unknown } from "./groups.js";
import * as history from "./history.js";
import { listenToKeys, writeHelp } from "./keys.js";
import { likeness, onLikeness, showLikeness } from "./likeness.js";
import { byIds, fixed, PhotoList } from "./list.js";
import { PhotoMap } from "./map.js";
import { allIdsOf, idsOf, photosOf } from "./moment.js";
import { Naming } from "./naming.js";
import * as large from "./photo.js";
import { released } from "./pointer.js";
import { reading } from "./reading.js";
import { Selection } from "./selection.js";
import { lookAgain, quit } from "./server.js";
import { Several } from "./several.js";
import { untimed } from "./shot.js";
import { disconnected, showStatus } from "./status.js";
import { showUnreadable } from "./unreadable.js";
import { doubts, named, right, suggestions } from "./verdict.js";
import { Words } from "./words.js";

const titles = {
  check: ["To check", "The most uncertain first: a label here teaches the model most."],
  start: ["First photos", "Typical photos to begin with. Name a few of at least two classes, and the model can begin."],
  unknown: ["Unknown",
    "Photos that nobody has named, in groups. Leave out what does not belong, and name the rest as one."],
  group: ["A group of unknown photos", "Select what belongs together and type its name. Esc goes back."],
  suspicious: ["Maybe mislabelled",
    "The label and the model disagree here. 0: the label is right. 1: take the first suggestion."],
  duplicates: ["Near-duplicates", "Taken at one moment, or made from one file. Keep one of them, or name all at once."],
  alike: ["Near-duplicates", "Each is decided by itself. Esc goes back."],
  class: ["By class", "The least certain first."],
  event: ["An event",
    "What one camera took within seconds, in the order of time. Each is decided by itself. Esc goes back."],
  spot: ["A spot check",
    "Drawn at random from those to accept. Enter if the suggestion is right, else type the class. Esc goes back."],
  accepted: ["Accepted in bulk",
    "The least certain first. Enter confirms a label, typing corrects it, Delete removes it. Esc goes back."],
  map: ["Map",
    "What is alike is near. Drag with Shift to encircle photos, or select with Shift and the arrow keys; type a name."],
  picked: ["Selected on the map", "Each is decided by itself, or select several. Esc goes back."],
  similar: ["Similar photos", "Those that probably belong together are selected. Type a name. Esc goes back."],
};

const selection = new Selection();
const grid = new Grid(byId("grid"), byId("scroller"), selection);
const map = new PhotoMap(selection);
const classes = new Classes();
const changes = new Changes((slow) => { byId("working").hidden = !slow; });
let recent = []; // classes used last, first; a new one is here before the server lists it
let view = "check";
let shownClass = null; // in the view "class"
let acceptance = 0; // in the view "accepted": the line of the history
let beginning = false; // whether the photos shown are those to begin with, of no model
let list = null;
let status = null;
let searching = {};
let untouched = true; // nobody has chosen a view or decided anything yet
let still = true; // nobody has pressed or clicked anything yet
let followed = ""; // the advice that led to the view, until something is decided there

const names = () => [...recent, ...classes.names.filter((name) => !recent.includes(name))];
const words = new Words(byId("search").elements.q);
const naming = new Naming(byId("naming"), names);
const severalThings = new Several(names);
const photoNaming = new Naming(byId("photo-naming"), names);

// --- views

// steady makes a question for what is shown wait until every change is answered, and its answer until
// no button is held: so that what was decided does not come back, and nothing changes under a click.
const steady = (ask) => async (...values) => {
  await changes.idle();
  const answer = await ask(...values);
  await released();
  return answer;
};

// source is that of the photos of the view, or of those to begin with.
const source = (first) => steady((cursor, limit) => {
  const of = view === "class" ? shownClass : searching.class;
  const its = view === "accepted" ? acceptance : undefined;
  const events = status?.events && view === "check" ? true : undefined;
  const put = view === "class" ? classes.aside : null; // what was set aside is in no view of its own
  const which = put ? { view: "all", state: put } : { view: first ? "start" : view, class: of };
  return api.images({ ...searching, cursor, limit, of: its, events, ...which });
});

const begins = () => view === "check" && status !== null && !status.model.ready;

// outdated reports whether the view is one of a class or model that is no more.
const outdated = () => beginning !== begins()
  || (view === "class" && (shownClass !== classes.current || !classes.there));

// stage is where the photos are.
const stage = () => (view === "map" ? map : grid);

// occupied reports whether somebody is at work on the photos in sight.
const occupied = () => isTyping() || large.isOpen() || selection.size > 0;

// show shows a view, of the photos of a list.
async function show(next, its) {
  view = next;
  beginning = begins();
  followed = view === "group" ? "unknown" : "";
  selection.clear();
  for (const button of byId("views").children) {
    const its = button.dataset.view;
    const here = its === view || (its === "unknown" && view === "group");
    button.setAttribute("aria-current", here ? "page" : "false");
  }
  byId("classes").hidden = view !== "class";
  if (view === "class") {
    await classes.load();
    shownClass = classes.current;
  }
  const inGroups = view === "duplicates" || (view === "unknown" && !filter.isActive(searching));
  byId("groups").hidden = !inGroups;
  byId("likeness").hidden = byId("unreadable").hidden = true;
  byId("groups").replaceChildren();
  byId("grid").hidden = inGroups || view === "map";
  byId("map").hidden = view !== "map";
  list = its ?? new PhotoList(source(beginning));
  list.addEventListener("change", update);
  lead();
  advise();
  if (view === "map") {
    await loadMap();
  } else if (!inGroups) {
    grid.show(list);
    await list.reach(0);
  }
  await update();
}

async function loadMap() {
  await changes.idle();
  await map.load(searching);
}

// toWork goes from photos to check, of which there are none, to the first view that has some: all of them may have
// a label by their folders.
async function toWork() {
  untouched = false;
  for (const next of ["suspicious", "unknown", "class"]) {
    const of = next === "class" ? classes.current : undefined;
    const { total } = await api.images({ view: next, class: of, limit: 1 });
    if (total > 0) {
      return view === "check" && list.total === 0 ? work(next) : undefined;
    }
  }
}

const idleCheck = ({ model, images, refit }) =>
  view === "check" && list?.loaded && list.total === 0 && model.ready && !images.scanning && !refit.running;

// work shows a view and gives the keys to its photos: Enter on them accepts,
// and does not press the button of the view again.
async function work(next) {
  await show(next);
  toPhotos();
}

// moveOn goes on from the first photos, or back to them, once the others are here. The photo in sight
// comes first among them: what somebody is about to type is about that.
async function moveOn() {
  const first = begins();
  const others = new PhotoList(source(first));
  const now = grid.photo;
  await others.reach(0);
  if (now) {
    others.lead(now.event ? now : await api.image(now.id));
  }
  if (first !== begins() || grid.photo?.id !== now?.id) { // much has happened meanwhile
    reloadSoon();
  } else if (view === "check" && !occupied()) {
    await show(view, others);
    toPhotos();
  }
}

// toPhotos gives the keys to the photos, or to the one that is seen large. Whoever began to
// type while an answer was on its way goes on typing.
function toPhotos() {
  const place = byId(large.isOpen() ? "photo" : view === "map" ? "map-canvas" : "grid");
  if (!isTyping() && place.checkVisibility()) {
    place.focus({ preventScroll: true });
  }
  if (document.activeElement === document.body) { // there are none, or what had the focus has gone
    byId("main").focus({ preventScroll: true });
  }
}

function isTyping() {
  const field = document.activeElement;
  return isField(field) && !["file", "select-one"].includes(field.type)
    && (field.value !== "" || !field.closest(".naming"));
}

// head writes the heading, which may be longer than a low window has place for.
function head(text) {
  byId("heading").textContent = byId("heading").title = text;
}

function lead() {
  const key = beginning ? "start" : view;
  const put = view === "class" && classes.aside;
  head(put ? filter.states[put] : (view === "class" && shownClass) || titles[key][0]);
  byId("hint").textContent = filesShown() ? "They are no photos, or damaged, or may not be read."
    : put ? "Set aside. Delete takes a photo back; a name labels it."
    : view === "class" ? classes.told(shownClass) || titles[key][1] : titles[key][1];
  const tools = view !== "class" || !classes.names.includes(shownClass) ? [] : [
    tool("Rename…", async () => reclass(await classes.rename(shownClass))),
    tool("Merge…", async () => reclass(await classes.merge(shownClass))),
    tool("Accept many…", () => bulk(shownClass)),
  ];
  const taken = view === "class" && classes.takenFor(shownClass);
  if (taken && searching.taken !== taken) {
    tools.push(tool(`Taken for ${taken}`, () => {
      filter.choose("taken", taken);
      return refilter();
    }));
  }
  if (view === "accepted") {
    tools.push(tool("Take all back", takeAllBack));
  }
  if (passing()) {
    tools.push(tool("Back", leave));
  }
  byId("lead-tools").replaceChildren(...tools);
}

// doubtful says how many labels look wrong, and how many are expected to be.
function doubtful() {
  const wrong = status?.account.wrong_labels;
  if (view !== "suspicious" || !list?.loaded || list.total === 0) {
    return "";
  }
  const many = `${photos(list.total)}, the most doubtful first`;
  return wrong ? `${many}: about ${count(Math.round(wrong.expected))} of ${count(wrong.of)} labels are wrong, `
    + `between ${count(Math.floor(wrong.low))} and ${count(Math.ceil(wrong.high))}.` : many + ".";
}

// advise writes the advice, which is over where it leads to.
function advise() {
  if (status) {
    showBrief(status, untouched);
    advice.showAdvice(status, status.account.next.do === view || followed === advice.nameOf(status));
  }
}

// passing reports whether the view is one that is left for the one before.
const passing = () => ["similar", "spot", "group", "alike", "event", "accepted", "picked"].includes(view);

function tool(text, run) {
  const button = element("button", { type: "button" }, text);
  button.addEventListener("click", guard(run));
  return button;
}

// chips shows what the filter selects, and of how many photos; views that are left for the one before have none.
function chips() {
  const counted = byId("groups").hidden && view !== "map" && list.loaded && !passing();
  filter.showChips(searching, counted ? list.total : null, guard(refilter));
}

// refilter shows the view with what the fields ask for now.
async function refilter() {
  searching = filter.asked();
  await show(view === "group" ? "unknown" : passing() ? back : view);
}

let groupsShown = 0;

async function update() {
  const inGroups = !byId("groups").hidden;
  let empty = "";
  let more = "";
  if (inGroups) {
    const turn = ++groupsShown;
    const kind = kinds[view];
    const answer = await kind.load();
    const { groups, total, computing } = answer;
    if (turn !== groupsShown || byId("groups").hidden) { // one was decided or another view opened meanwhile
      return;
    }
    if (view === "duplicates") {
      showLikeness(answer);
    }
    const n = showGroups(groups, { names, name: guard(nameGroup), put: guard(putGroup), ...kind });
    empty = n > 0 ? "" : computing ? "Looking for groups…" : kind.none();
    byId("untimed").textContent = total > n ? `The first ${count(n)} of ${count(total)} groups.` : "";
  } else if (view === "map") {
    empty = map.size > 0 ? "" : map.computing ? "The photos are being placed…" : nothingHere();
  } else if (list.loaded && list.total === 0) {
    ({ empty, more } = filesShown() ? await showUnreadable() : { empty: nothingHere(), more });
  }
  byId("grid").hidden = inGroups || view === "map" || empty !== "" || !byId("unreadable").hidden;
  byId("map").hidden = view !== "map" || empty !== "";
  byId("empty").hidden = empty === "";
  byId("empty").textContent = empty;
  if (!inGroups) {
    const said = [more, doubtful(), untimed(list, searching, status?.images)];
    byId("untimed").textContent = said.filter(Boolean).join(" ");
  }
  byId("untimed").hidden = byId("untimed").textContent === "";
  chips();
  choose();
}

// filesShown reports whether files are asked for that are no photos.
const filesShown = () => searching.state === "unreadable" || (view === "class" && classes.aside === "unreadable");

// kinds of groups: how they are loaded, what is said if there are none, what is seen when one is
// opened, and what stands under each of its photos.
const kinds = {
  unknown: {
    load: steady(unknown),
    none: noneUnknown,
    single: guard(async (of) => show("group", new PhotoList(fixed(await members(of))))),
  },
  duplicates: {
    load: steady(() => duplicates(searching, likeness())), none: noDuplicates,
    single: guard(async (of) => {
      await showPassing("alike", fixed(await members(of)));
      toPhotos();
    }),
    below(group, image, section) {
      const title = "The others are set aside as its copies; no file is deleted";
      const keep = element("button", { type: "button", title }, "Keep only this");
      keep.addEventListener("click", guard(() => settle(section(), { do: "ignore", kept: image.id }, async () =>
        (await members(group)).filter(({ id }) => id !== image.id))));
      const file = element("small", { title: image.name }, image.name);
      return [element("b", { className: image.by ?? "", title: named(image) }, named(image)), file, keep];
    },
  },
};

// waiting says how far the photos are read, "" if they are.
function waiting() {
  const how = status?.images.scanning ? reading(status.images) : "";
  return how && `The photos are being read: ${how}.`;
}

function noDuplicates() {
  return waiting() || "No photos are nearly the same.";
}

function noneUnknown() {
  return status?.no_threshold
    ? "So far nothing tells unknown photos from others: that takes some twenty named photos, in classes of two or more."
    : "No photo looks unknown.";
}

function nothingHere() {
  if (filter.isActive(searching)) {
    return "No photo matches the filter.";
  }
  if (waiting()) {
    return waiting();
  }
  if (status?.refit.running && !status.model.ready) {
    return "The model is being made…";
  }
  const wrong = Math.round(status?.account.wrong_labels?.expected ?? 0);
  if (view === "check" && wrong > 0) {
    return `Every photo has a label, but about ${count(wrong)} of them ${wrong === 1 ? "is" : "are"} wrong: `
      + "“Maybe mislabelled” shows those first.";
  }
  const texts = { check: "Nothing is left to check.", suspicious: "No label looks wrong.", class: "No photos." };
  return texts[view] ?? "Nothing here.";
}

// choose writes what the next decision is about.
function choose() {
  const one = current();
  showAct(one, targets(), selection.size);
  if (large.isOpen()) {
    (one && !one.event ? open : large.close)();
  }
}

// --- decisions

// current is the photo that the keys are about; while the groups are shown there is none.
function current() {
  return byId("groups").hidden && byId("empty").hidden ? stage().photo : undefined;
}

// targets are the photos that a decision is about: in the large view the one
// that is seen, otherwise the selected ones, or the current one.
function targets() {
  if (selection.size > 0 && !large.isOpen()) {
    return view === "map" ? map.photosOf(selection.ids) : list.items.filter((item) => selection.has(item.id));
  }
  const one = current();
  return one ? [one] : [];
}

const noPhoto = "There is no photo to name.";

async function label(about, name) {
  if (about.length === 0) {
    say(noPhoto);
    return;
  }
  await decideOn({ do: "label", class: name }, about);
}

// nameGroup names the photos of a group but for those that are left out.
async function nameGroup(of, out, name, section) {
  await settle(section, { do: "label", class: name }, async () =>
    (await members(of)).filter(({ id }) => !out.has(id)));
}

// putGroup sets the photos of a group aside but for those that are left out.
async function putGroup(of, out, how, section) {
  await settle(section, { do: how }, async () => (await members(of)).filter(({ id }) => !out.has(id)));
}

// settle decides about photos of a group, which choose returns when it is their turn. Its section has
// served at once, even if the decision is refused: the groups come again.
async function settle(section, decision, choose) {
  groupsShown++; // what is being asked for has the group still
  section.remove();
  try {
    await ask(decision, async () => {
      const images = await choose();
      if (images.length === 0) {
        throw new Error(noPhoto);
      }
      return images.map(({ id }) => id);
    });
  } finally {
    reloadSoon();
  }
}

// reclass renames or merges a class and shows what it is part of then.
async function reclass(decision) {
  if (decision) {
    await decideOn(decision);
    classes.current = decision.to;
    await work("class");
  }
}

// change asks the server for a change that is about some tiles, and returns a promise of the answer.
// Tiles that leave the view for it go at once, so that the next key is about the next photo. If it is
// refused they come back, behind the current one: that stays where it is.
async function change(run, { about = [], leaving = false, back = false } = {}) {
  untouched = false;
  const here = list;
  const ids = about.map(({ id }) => id);
  const gone = leaving ? here.remove(ids) : [];
  selection.drop(ids);
  const answer = changes.ask(run, { back });
  byId("undo").disabled = byId("redo").disabled = false; // until the server says what there is to take back
  toPhotos();
  try {
    return await answer;
  } catch (error) {
    here.restore(gone, grid.current + 1);
    showStatus(status);
    reloadSoon();
    throw error;
  }
}

// decideOn decides about tiles, or classes.
async function decideOn(decision, about = []) {
  if (decision) {
    await ask(decision, () => idsOf(about), { about, leaving: leaves(decision, about.length) });
  }
}

// ask asks for a decision about photos, whose ids choose returns when it is their turn.
async function ask(decision, choose, how) {
  remember(decision);
  const { images, answer } = await change(async () => {
    const images = await choose();
    return { images, answer: await api.decide(images.length > 0 ? { ...decision, images } : decision) };
  }, how);
  remember(decision); // a list of classes from before it has come meanwhile
  say(answer.step.text);
  const unlabels = unlabelsFew(decision, images.length);
  if (unlabels && !how?.leaving) {
    guard(renew)(images);
  }
  done(answer, !unlabels && !answers.includes(decision.do));
}

function remember({ do: what, class: name }) {
  if (what === "label") {
    recent = [name, ...recent.filter((other) => other !== name)];
  }
}

const few = 50; // photos that are asked for one by one
const answers = ["label", "ignore", "skip", "several"]; // to the question what a photo shows
const unlabelsFew = (decision, n) => decision.do === "unlabel" && n <= few;

// leaves reports whether a decision takes n tiles out of the view: those of open questions.
function leaves(decision, n) {
  const open = view === "class" ? decision.class !== shownClass
    : passing() || ["check", "unknown", "suspicious"].includes(view);
  return open && (answers.includes(decision.do)
    || (unlabelsFew(decision, n) && (["suspicious", "accepted"].includes(view) || classes.aside)));
}

// done takes in the answer to a change: what is out of sight is put in the new order, and after a
// change of many photos, such as undo, what is in sight too.
function done(answer, many = true) {
  followed = "";
  afresh ||= many;
  heard(answer.status);
  reloadSoon();
  if (changes.waiting > 0 || !list.loaded || list.total > 0) {
    return;
  }
  if (view === "spot") {
    leave();
    guard(() => bulk(spot.class, spot.above))();
  } else if (["similar", "alike", "event", "accepted", "picked"].includes(view)) {
    leave();
  }
}

// decideEach labels the photos that a decision is about, each with its own class, except
// those for which there is none. It returns how many classes there were.
async function decideEach(classOf) {
  const by = Map.groupBy(targets().filter(classOf), classOf);
  const ended = await Promise.allSettled([...by].map(([name, about]) => label(about, name)));
  ended.filter(({ reason }) => reason).forEach(({ reason }) => say(reason.message, true));
  return by.size;
}

async function accept() {
  if (await decideEach(right) === 0) {
    say(doubts(targets()) || "There is no suggestion to accept. Type a class.");
  }
}

// keep confirms labels, of which those in doubt are not confirmed by accepting.
async function keep() {
  if (await decideEach((photo) => photo.by !== "detector" && photo.label) === 0) {
    say("There is no label to keep.");
  }
}

const takeRather = () => decideEach((photo) => photo.rather);

async function suggestion(n) {
  const one = current();
  const name = one && suggestions(one)[n]?.class;
  if (!name) {
    say(`There is no suggestion ${n + 1}. A name that begins with a digit is typed in the field.`);
    return;
  }
  await label(targets(), name);
}

async function unlabel() {
  const about = targets().filter((photo) => photo.by && photo.by !== "detector");
  if (about.length > 0) {
    await decideOn({ do: "unlabel" }, about);
  } else {
    say("There is no label to remove.");
  }
}

// onGroup does with the group that has the focus what a key asks for, if groups are shown; it reports whether they are.
function onGroup(what) {
  if (byId("groups").hidden) {
    return false;
  }
  const group = focusedGroup();
  if (group) {
    group[what]();
  } else {
    say("Go to a group first, with Tab or a click: keys are about the group in which you are.");
  }
  return true;
}

// setAside decides that photos are of no class, or are for later. What has a label need not
// be looked at later.
async function setAside(how) {
  if (onGroup(how)) {
    return;
  }
  const about = targets().filter((photo) => how === "ignore" || !photo.label);
  if (about.length > 0) {
    await decideOn({ do: how }, about);
  } else {
    say(targets().length > 0 ? "It has a label: Delete removes that." : noPhoto);
  }
}

async function several() {
  const about = targets();
  if (!byId("groups").hidden) {
    say("A group shows one thing. See it, and select the photos that show several.");
  } else if (about.length === 0) {
    say(noPhoto);
  } else {
    const labels = await severalThings.ask(about.length === 1 ? about[0].labels : []);
    await decideOn(labels && { do: "several", labels }, about);
  }
}

async function goBack(seq) {
  history.close();
  const answer = await change(() => api.back(seq));
  say(`Everything is as after line ${seq}; undo takes that back.`);
  done(answer);
}

// lookThrough shows what is left of what a line of the history accepted.
async function lookThrough(seq) {
  history.close();
  acceptance = seq;
  await showPassing("accepted");
  toPhotos();
}

async function takeAllBack() {
  await decideOn({ do: "unlabel", of: acceptance });
  await leave();
}

async function forget() {
  const about = targets();
  const ids = await allIdsOf(about);
  if (ids.length === 0) {
    say(noPhoto);
  } else if (await askForget(ids.length)) {
    say("The model is trained without…");
    const answer = await change(() => api.forget(ids), { about, leaving: true });
    done(answer);
    await tellForgotten(answer);
  }
}

let spot = {}; // the question that a spot check answers

async function bulk(name, above) {
  const within = filter.selects(searching);
  const answer = await askBulk(name, { above, within });
  if (answer?.check) {
    spot = answer;
    const { images } = await api.spotCheck(answer.above, answer.class, spots);
    await showPassing("spot", fixed(images));
    toPhotos();
  } else if (answer) {
    const result = await change(() => api.accept(answer.above, answer.class, within));
    say(result.step.text);
    done(result);
  }
}

async function save() {
  const { status: now } = await change(api.save);
  say("The model is saved.");
  heard(now);
}

async function step(which) {
  let what;
  const answer = await change(() => {
    what = status[which];
    return api[which]();
  }, { back: true });
  say((which === "undo" ? "Undone: " : "Redone: ") + what);
  done(answer);
}

// --- similar photos

async function like(one) {
  if (!one) {
    say(byId("groups").hidden ? noPhoto : "This is a group already: name it, or see all of it.");
    return;
  }
  large.close();
  const answer = await api.similar(one.id, { decided: false, limit: 60 });
  const others = answer.images.filter(({ image }) => image.id !== one.id);
  const close = others.filter(({ similarity }) => similarity >= alike(answer.images));
  await showSimilar([one, ...others.map(({ image }) => image)], [one.id, ...close.map(({ image }) => image.id)]);
  toPhotos();
}

// alike is the similarity above which photos are selected: where it falls most
// from one photo to the next, within the first thirty.
function alike(found) {
  let widest = 0;
  let at = 1;
  for (let i = 1; i < Math.min(30, found.length); i++) {
    const fall = found[i - 1].similarity - found[i].similarity;
    if (fall > widest) {
      [widest, at] = [fall, found[i - 1].similarity];
    }
  }
  return at;
}

async function findLike(file) {
  const answer = await api.similarTo(file, 60);
  await showSimilar(answer.images.map(({ image }) => image), []);
  head("Similar to " + file.name);
  toPhotos();
}

let back = "check";

async function showSimilar(found, selected) {
  await showPassing("similar", fixed(found));
  selection.set(selected);
}

// showPassing shows the photos of a source in a view that is left for the one before.
async function showPassing(next, from) {
  back = view === "group" ? "unknown" : passing() ? back : view;
  await show(next, from && new PhotoList(from));
}

function leave() {
  if (large.isOpen()) {
    large.close();
  } else if (["similar", "spot", "alike", "event", "accepted", "picked"].includes(view)) {
    return work(back);
  } else if (selection.size > 0) {
    selection.clear();
  } else if (view === "group") {
    return work("unknown");
  }
}

// --- the server's news

let lost = false; // the connection, until the next event; a server that was started again counts from 0

// heard takes in a status. The answer to a change can come after the news of a later
// one, and is then out of date.
function heard(next, event) {
  if (!next) {
    lost = true;
    disconnected();
    return;
  }
  if (!lost && status && next.number < status.number) {
    return;
  }
  lost = lost && !event;
  const reading = (of) => of && (of.images.scanning || of.images.seen < of.images.embedded);
  afresh ||= next.events && (reading(status) || reading(next)); // photos become events
  const ended = status?.images.scanning && !next.images.scanning; // the last photos are there
  const placing = view === "map" && (event === "map" || ended);
  const changed = status && (next.revision !== status.revision || next.model.ready !== status.model.ready);
  status = next;
  classes.heard(status.account);
  showStatus(status);
  map.tell(status.arranging);
  words.heard(status);
  advise();
  if (event === "refit" && !status.refit.running) {
    api.groups({ limit: 1 }).catch(() => {}); // looks for new kinds
  }
  if (ended && still && view === "check" && opening(status) !== "check") {
    guard(work)(opening(status));
  } else if (changed || placing || event === "groups") {
    reloadSoon(status.images.scanning && event === "status" ? whileReading : shortly);
  } else if (untouched && idleCheck(status)) {
    guard(toWork)();
  }
}

const shortly = 120; // milliseconds
const whileReading = 2000; // each time all photos are put in order, which takes from reading
let later = 0;
let laterAt = Infinity;
let afresh = false; // whether the next reload puts the photos in sight in the new order too

// reloadSoon waits a moment, and until every change is answered: several changes in a row need one
// reload.
function reloadSoon(wait = shortly) {
  const at = performance.now() + wait;
  if (later !== 0 && laterAt <= at) {
    return;
  }
  clearTimeout(later);
  laterAt = at;
  later = setTimeout(async () => {
    await changes.idle();
    later = 0;
    guard(reload)();
  }, wait);
  busy();
}

async function reload() {
  const all = afresh && !isTyping(); // else a name that is half typed would be that of another photo
  afresh &&= !all;
  const seen = all ? () => 0 : () => Math.max(grid.seen, lastSelected() + 1);
  await classes.load();
  filter.offer(classes.names);
  recent = recent.filter((name) => classes.names.includes(name));
  if (outdated() && !occupied()) {
    await (view === "check" ? moveOn() : work(view));
  } else if (!byId("groups").hidden) {
    await update();
  } else if (view === "map") {
    await loadMap();
    selection.drop(selection.ids.filter((id) => !map.has(id)));
    await update();
    if (document.activeElement === byId("main")) { // there was no map until now
      toPhotos();
    }
  } else if (passing()) {
    await renew(list.items.slice(0, grid.seen).filter(({ event }) => !event).map(({ id }) => id));
  } else {
    await list.reload(seen);
    if (untouched && idleCheck(status)) {
      await toWork();
    }
    selection.drop(selection.ids.filter((id) => !list.items.some((item) => item.id === id)));
  }
}

const lastSelected = () => list.items.findLastIndex((item) => selection.has(item.id));

function renew(ids) {
  const here = list;
  return Promise.all(ids.map(async (id) => here.renew(await steady(api.image)(id))));
}

let running = 0;

// busy tells those who cannot see it whether the photos are about to change.
function busy() {
  byId("stage").setAttribute("aria-busy", String(running > 0 || later !== 0));
}

// guard makes a function whose failure is shown.
function guard(run) {
  return async (...values) => {
    running++;
    busy();
    try {
      await run(...values);
    } catch (error) {
      say(error.message, true);
    } finally {
      running--;
      busy();
    }
  };
}

// --- events

for (const happens of ["keydown", "pointerdown", "wheel"]) {
  document.addEventListener(happens, () => { still = false; }, { capture: true, passive: true, once: true });
}
byId("views").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) {
    untouched = false;
    guard(work)(button.dataset.view);
  }
});
onLikeness(guard(() => work("duplicates")));
classes.addEventListener("choose", guard(() => work("class")));
for (const place of [grid, map]) {
  place.addEventListener("current", choose);
  place.addEventListener("fail", (event) => say(event.detail.message, true));
  place.addEventListener("open", open);
}
selection.addEventListener("change", choose);

function open() {
  const one = current();
  if (onGroup("see")) {
    return;
  }
  if (view === "map") {
    guard(openPicked)(targets().map(({ id }) => id));
  } else if (one?.event) {
    guard(openEvent)(one);
  } else if (one) {
    large.open(one, (name) => guard(label)([one], name));
  }
}

async function openEvent(tile) {
  await showPassing("event", fixed(await photosOf(tile)));
  toPhotos();
}

// openPicked shows photos of the map as tiles.
async function openPicked(ids) {
  if (ids.length > 0) {
    await showPassing("picked", byIds(ids));
    toPhotos();
  }
}
for (const field of [naming, photoNaming]) {
  field.addEventListener("name", (event) => guard(label)(targets(), event.detail));
  field.addEventListener("leave", idle);
}

// idle is what follows when somebody has stopped to type, or a dialog is closed.
function idle() {
  toPhotos();
  if (outdated() || afresh) { // it waited for that
    reloadSoon();
  }
}
for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("close", () => {
    if (document.activeElement === document.body || outdated()) {
      idle();
    }
  });
}

// type begins a name for what the next decision is about.
function type(text) {
  if (current()) {
    (large.isOpen() ? photoNaming : naming).start(text);
  } else if (focusedGroup()) {
    focusedGroup().type(text);
  } else if (!onGroup("type")) {
    say(noPhoto);
  }
}

const commands = {
  accept: guard(accept), keep: guard(keep), suggestion: guard(suggestion), unlabel: guard(unlabel),
  later: guard(() => setAside("skip")), unusable: guard(() => setAside("ignore")),
  several: guard(several),
  like: guard(() => like(current())), open, leave: guard(leave),
  undo: guard(() => step("undo")), redo: guard(() => step("redo")),
  move: (columns, rows, range) => stage().move(columns, rows, range),
  page: (pages, range) => stage().page(pages, range),
  end: (way, range) => stage().end(way, range),
  toggle: () => (current() ? selection.toggle(current().id) : onGroup("hint")),
  selectAll: () => onGroup("hint")
    || (view === "map" ? map.selectAll() : selection.add(list.items.map((item) => item.id))),
  type,
  history: guard(() => history.open(guard(goBack), guard(lookThrough))), forget: guard(forget),
  help: () => byId("keys").showModal(),
};
for (const [id, run] of Object.entries({
  accept: commands.accept, keep: commands.keep, change: guard(takeRather), like: commands.like,
  everything: () => { commands.selectAll(); toPhotos(); }, nothing: () => { selection.clear(); toPhotos(); },
  bulk: guard(() => bulk()), help: commands.help,
  undo: commands.undo, redo: commands.redo, "show-history": commands.history, forget: commands.forget,
  save: guard(save), "look-again": guard(async () => heard(await lookAgain())), quit: guard(() => changes.ask(quit)),
  follow: guard(follow), dismiss: () => { advice.dismiss(status); advise(); toPhotos(); },
  "keys-close": () => byId("keys").close(),
  "map-open": commands.open, "map-arrange": guard(async () => heard(await map.arrange())),
  "photo-accept": commands.accept, "photo-keep": commands.keep, "photo-like": commands.like,
  later: commands.later, unusable: commands.unusable, several: commands.several,
  "photo-later": commands.later, "photo-unusable": commands.unusable, "photo-several": commands.several,
  "photo-unlabel": commands.unlabel, "photo-forget": commands.forget,
  "photo-previous": () => commands.move(-1, 0), "photo-next": () => commands.move(1, 0),
})) {
  byId(id).addEventListener("click", run);
}

// follow goes where the advice leads. More photos of a class are most likely
// those like one that is known.
async function follow() {
  const { do: what, class: name } = status.account.next;
  const its = advice.nameOf(status);
  if (what === "more") {
    const known = await api.images({ view: "all", class: name, decided: true, limit: 1 });
    if (known.images.length > 0) {
      await like(known.images[0]);
    } else {
      classes.current = name;
      await work("class");
    }
    followed = its;
    return advise();
  }
  return what === "accept" ? bulk() : work(what);
}

// search looks again a moment after the last key.
let typed;
byId("search").addEventListener("input", (event) => {
  untouched = false;
  if (event.target.type === "file") {
    return;
  }
  clearTimeout(typed);
  typed = setTimeout(guard(refilter), 200);
});
byId("search").addEventListener("submit", (event) => event.preventDefault());
words.onEnter(guard(async (wanted) => {
  clearTimeout(typed);
  await showSimilar(await words.find(wanted), []);
  head("Like “" + wanted + "”");
  toPhotos();
}));
onExample(guard(findLike));

writeHelp();
listenToKeys(commands);
guard(async () => {
  heard(await api.status());
  await classes.load();
  await work(opening(status));
  api.groups({ limit: 1 }).catch(() => {}); // looks for new kinds
  if (idleCheck(status)) {
    await toWork();
  }
  api.listen(heard);
})();
addEventListener("beforeunload", (event) => { // what waits would be lost
  if (changes.waiting > 0) {
    event.preventDefault();
  }
});
