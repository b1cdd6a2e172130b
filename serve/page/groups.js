// The unknown photos in groups, each to be named as one.
import * as api from "./api.js";
import { byId, element, photos } from "./dom.js";
import { Naming } from "./naming.js";

// showGroups fills the view. names returns the classes; name is called with a group,
// the ids of photos to leave out, and a class; single with a group to be seen photo
// by photo.
export async function showGroups({ names, name, single }) {
  const box = byId("groups");
  const { groups, computing } = await api.groups();
  const kept = new Map(Array.from(box.querySelectorAll(".group"), (e) => [e.dataset.key, e]));
  box.replaceChildren(...groups.map((group) => {
    const key = group.id + ":" + group.size + ":" + group.images.map((image) => image.id).join();
    const section = kept.get(key) ?? groupOf(group, { names, name, single });
    section.dataset.key = key;
    return section;
  }));
  return { n: groups.length, computing };
}

function groupOf(group, { names, name, single }) {
  const out = new Set();
  const title = element("h3", { id: "group-" + group.id });
  const write = () => { title.textContent = out.size ? `${photos(group.size - out.size)} of ${group.size}` : photos(group.size); };
  write();
  const strip = element("ul", { className: "strip" }, ...group.images.map((image) => {
    const button = element("button", { type: "button", "aria-pressed": "true", title: "Click to leave this photo out", className: "member" },
      element("img", { src: api.thumb(image.id), alt: image.name, loading: "lazy", width: 120, height: 120 }));
    button.addEventListener("click", () => {
      if (!out.delete(image.id)) {
        out.add(image.id);
      }
      button.setAttribute("aria-pressed", String(!out.has(image.id)));
      write();
    });
    return element("li", {}, button);
  }));
  const form = element("form", { className: "naming", id: "name-group-" + group.id, autocomplete: "off", "aria-labelledby": "group-" + group.id });
  const more = element("button", { type: "button" }, group.size > group.images.length ? `See all ${group.size}` : "See large");
  more.addEventListener("click", () => single(group));
  new Naming(form, names).addEventListener("name", (event) => name(group, out, event.detail));
  return element("section", { className: "group", "aria-labelledby": "group-" + group.id }, element("div", { className: "row" }, title, form, more), strip);
}

// members returns all photos of a group, first the few that it came with. It
// fails if the server has formed other groups since.
export async function members(group) {
  if (group.size <= group.images.length) {
    return group.images;
  }
  const all = new Map();
  let cursor;
  do {
    const page = await api.images({ group: group.id, decided: false, limit: 500, cursor });
    page.images.forEach((image) => all.set(image.id, image));
    cursor = page.next;
  } while (cursor);
  if (!group.images.every(({ id }) => all.has(id))) {
    throw new Error("The groups have changed meanwhile: look again.");
  }
  group.images.forEach(({ id }) => all.delete(id));
  return [...group.images, ...all.values()];
}
