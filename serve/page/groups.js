// Photos in groups, each to be named as one: the unknown ones, or near-duplicates.
import * as api from "./api.js";
import { byId, count, element, photos, say } from "./dom.js";
import { Naming } from "./naming.js";
import { aside } from "./verdict.js";

// unknown and duplicates load the groups; the query of a group selects its photos.
export async function unknown() {
  const { groups, computing } = await api.groups();
  const known = groups.map((group) => ({ ...group, query: { group: group.id, decided: false } }));
  return { groups: known, computing };
}

export async function duplicates(searching, alike) {
  const answer = await api.duplicates({ ...searching, alike });
  const known = answer.groups.map((group) => {
    const [{ id }] = group.images;
    return { ...group, id, query: { duplicates: id, alike: answer.alike } };
  });
  return { ...answer, groups: known };
}

// showGroups fills the view with groups, and returns how many there are. names returns the
// classes; name is called with a group, the ids of photos to leave out, and a class; put instead with how they are set
// aside; single with a group to be seen photo by photo; below returns what stands under a photo. While a
// person is in the middle of one, typing a name or leaving photos out, the groups stay as they
// are: the server remembers them.
export function showGroups(groups, ways) {
  const box = byId("groups");
  const typed = Array.from(box.querySelectorAll("input")).some((input) => input.value);
  const split = Array.from(box.children).some((section) => parted.has(section));
  if (typed || split || box.querySelector("[aria-pressed=false]")) {
    return box.children.length;
  }
  const old = new Map(Array.from(box.children, (e) => [e.dataset.key, e]));
  const sections = groups.map((group) => {
    const key = group.id + ":" + group.size;
    const section = old.get(key) ?? groupOf(group, ways);
    section.dataset.key = key;
    return section;
  });
  Array.from(box.children).filter((e) => !sections.includes(e)).forEach((e) => e.remove());
  sections.forEach((section, at) => {
    if (box.children[at] !== section) { // one that moves loses the focus
      box.insertBefore(section, box.children[at]);
    }
  });
  return groups.length;
}

const ofSection = new WeakMap(); // what a key does with a group

// focusedGroup is what the keys do with the group that has the focus, if one has.
export const focusedGroup = () => ofSection.get(document.activeElement?.closest(".group"));

function groupOf(group, ways) {
  const out = new Set();
  const title = element("h3", { id: "group-" + group.id });
  const note = element("p", { className: "called" }, group.called
    ? `They look like one thing; the model calls them ${group.called}.` : "");
  const split = button("Split off", "What is left out becomes a group of its own");
  const write = () => {
    title.textContent = out.size ? `${photos(group.size - out.size)} of ${group.size}` : photos(group.size);
    split.hidden = out.size === 0 || out.size === group.size;
  };
  const form = element("form", {
    className: "naming", id: "name-group-" + group.id, autocomplete: "off", "aria-labelledby": title.id,
  });
  const more = button(group.size > group.images.length ? `See all ${count(group.size)}` : "See large");
  const unusable = button("Not usable", "Of no class: never learned, never exported as one");
  const later = button("Later", "Show them after all others");
  const tools = ways.below ? [] : [unusable, later];
  const strip = stripOf(group, out, write, ways, () => section);
  const section = element("section",
    { className: ways.below ? "group captioned" : "group", "aria-labelledby": title.id },
    element("div", { className: "row" }, title, form, more, ...tools, split), note, strip);
  const naming = new Naming(form, ways.names);
  naming.addEventListener("name", (event) => ways.name(group, out, event.detail, section));
  const keys = {
    see: () => ways.single(group), type: (text) => naming.start(text),
    ignore: () => ways.put(group, out, "ignore", section), skip: () => ways.put(group, out, "skip", section),
    hint: () => say("Space leaves the photo that has the focus out of its group, or takes it in again."),
  };
  more.addEventListener("click", keys.see);
  unusable.addEventListener("click", keys.ignore);
  later.addEventListener("click", keys.skip);
  split.addEventListener("click", () => part(group, out, ways, section));
  ofSection.set(section, keys);
  write();
  return section;
}

function button(text, title = "") {
  return element("button", { type: "button", title }, text);
}

// stripOf shows the first photos of a group, each a button that leaves it out.
function stripOf(group, out, write, { below }, section) {
  return element("ul", { className: "strip" }, ...group.images.map((image) => {
    const member = element("button",
      { type: "button", "aria-pressed": "true", title: "Click to leave this photo out", className: "member" },
      element("img", { src: api.thumb(image.id), alt: image.name, loading: "lazy", width: 120, height: 120 }));
    member.addEventListener("click", () => {
      if (!out.delete(image.id)) {
        out.add(image.id);
      }
      member.setAttribute("aria-pressed", String(!out.has(image.id)));
      write();
    });
    return element("li", {}, member, ...(below?.(group, image, section) ?? []));
  }));
}

// part makes what is left out of a group one of its own, which stands after it. Both stay until they are decided.
function part(group, out, ways, section) {
  const mine = group.images.filter(({ id }) => out.has(id));
  const query = { ...group.query, only: new Set(out) };
  const half = { ...group, id: `${group.id}-${mine[0].id.slice(0, 8)}`, size: mine.length, images: mine, query };
  const rest = {
    ...group, size: group.size - mine.length, images: group.images.filter(({ id }) => !out.has(id)),
    query: { ...group.query, without: new Set([...(group.query.without ?? []), ...out]) },
  };
  const sections = [rest, half].map((one) => groupOf(one, ways));
  sections.forEach((one, at) => { one.dataset.key = `${group.id}:${at}:${mine[0].id}`; });
  parted.add(sections[0]).add(sections[1]);
  section.replaceWith(...sections);
  sections[1].querySelector("input").focus();
}

const parted = new Set(); // the sections of groups that were split

// members returns all photos of a group that are not set aside, first the few that it came
// with. It fails if somebody has decided on one of these since, or the server has forgotten
// the group.
export async function members(group) {
  const { only, without, ...query } = group.query;
  const all = new Map();
  let cursor;
  do {
    const page = await api.images({ ...query, limit: 500, cursor });
    const mine = page.images.filter((image) => (only?.has(image.id) ?? true) && !without?.has(image.id));
    mine.filter((image) => !aside(image)).forEach((image) => all.set(image.id, image));
    cursor = page.next;
  } while (cursor);
  if (!group.images.every(({ id }) => all.has(id))) {
    throw new Error("Some of these photos were decided meanwhile: look again.");
  }
  group.images.forEach(({ id }) => all.delete(id));
  return [...group.images, ...all.values()];
}
