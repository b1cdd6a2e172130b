// Photos in groups, each to be named as one: the unknown ones, or near-duplicates.
import * as api from "./api.js";
import { byId, count, element, photos } from "./dom.js";
import { Naming } from "./naming.js";
import { aside } from "./verdict.js";

// unknown and duplicates load the groups; the query of a group selects its photos.
export async function unknown() {
  const { groups, computing } = await api.groups();
  const known = groups.map((group) => ({ ...group, query: { group: group.id, decided: false } }));
  return { groups: known, computing };
}

export async function duplicates(searching) {
  const { groups, total, computing } = await api.duplicates(searching);
  const known = groups.map((group) => {
    const [{ id }] = group.images;
    return { ...group, id, query: { duplicates: id } };
  });
  return { groups: known, total, computing };
}

// showGroups fills the view with groups, and returns how many there are. names returns the
// classes; name is called with a group, the ids of photos to leave out, and a class; single
// with a group to be seen photo by photo; below returns what stands under a photo. While a
// person is in the middle of one, typing a name or leaving photos out, the groups stay as they
// are: the server remembers them.
export function showGroups(groups, { names, name, single, below }) {
  const box = byId("groups");
  const typed = Array.from(box.querySelectorAll("input")).some((input) => input.value);
  if (typed || box.querySelector("[aria-pressed=false]")) {
    return box.children.length;
  }
  const old = new Map(Array.from(box.children, (e) => [e.dataset.key, e]));
  const sections = groups.map((group) => {
    const key = group.id + ":" + group.size;
    const section = old.get(key) ?? groupOf(group, { names, name, single, below });
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

function groupOf(group, { names, name, single, below }) {
  const out = new Set();
  const title = element("h3", { id: "group-" + group.id });
  const write = () => {
    title.textContent = out.size ? `${photos(group.size - out.size)} of ${group.size}` : photos(group.size);
  };
  write();
  const strip = element("ul", { className: "strip" }, ...group.images.map((image) => {
    const button = element("button",
      { type: "button", "aria-pressed": "true", title: "Click to leave this photo out", className: "member" },
      element("img", { src: api.thumb(image.id), alt: image.name, loading: "lazy", width: 120, height: 120 }));
    button.addEventListener("click", () => {
      if (!out.delete(image.id)) {
        out.add(image.id);
      }
      button.setAttribute("aria-pressed", String(!out.has(image.id)));
      write();
    });
    return element("li", {}, button, ...(below?.(group, image, () => section) ?? []));
  }));
  const form = element("form", {
    className: "naming", id: "name-group-" + group.id, autocomplete: "off", "aria-labelledby": title.id,
  });
  const more = element("button", { type: "button" },
    group.size > group.images.length ? `See all ${count(group.size)}` : "See large");
  more.addEventListener("click", () => single(group));
  const section = element("section", { className: below ? "group captioned" : "group", "aria-labelledby": title.id },
    element("div", { className: "row" }, title, form, more), strip);
  new Naming(form, names).addEventListener("name", (event) => name(group, out, event.detail, section));
  return section;
}

// members returns all photos of a group that are not set aside, first the few that it came
// with. It fails if somebody has decided on one of these since, or the server has forgotten
// the group.
export async function members(group) {
  const all = new Map();
  let cursor;
  do {
    const page = await api.images({ ...group.query, limit: 500, cursor });
    page.images.filter((image) => !aside(image)).forEach((image) => all.set(image.id, image));
    cursor = page.next;
  } while (cursor);
  if (!group.images.every(({ id }) => all.has(id))) {
    throw new Error("Some of these photos were decided meanwhile: look again.");
  }
  group.images.forEach(({ id }) => all.delete(id));
  return [...group.images, ...all.values()];
}
