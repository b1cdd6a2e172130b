// The files that could not be read as photos, and why: a list instead of photos.
import * as api from "./api.js";
import { byId, count, element } from "./dom.js";

const most = 500; // that the server names

// showUnreadable fills the list, and returns what is said instead if there are none, and how many there are.
export async function showUnreadable() {
  const { files, total } = await api.unreadable({ limit: most });
  const more = total > files.length ? `The first ${count(files.length)} of ${count(total)} files.` : "";
  byId("unreadable").replaceChildren(...files.map(({ path, reason }) =>
    element("li", {}, element("b", {}, path), " ", element("span", {}, reason))));
  byId("unreadable").hidden = total === 0;
  return { empty: total === 0 ? "Every file could be read." : "", more };
}
