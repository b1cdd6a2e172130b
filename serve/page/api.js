// The HTTP API that openapi.yaml describes. Every function returns a promise of
// the answer, and fails with an Error whose message is meant for people.

export async function ask(method, path, { query = {}, json, body } = {}) {
  const url = new URL("v1/" + path, document.baseURI);
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") {
      url.searchParams.set(key, value);
    }
  }
  const init = { method, body };
  if (json) {
    init.body = JSON.stringify(json);
    init.headers = { "Content-Type": "application/json" };
  }
  let answer;
  try {
    answer = await fetch(url, init);
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  const result = await answer.json().catch(() => ({ error: answer.status + " " + answer.statusText }));
  if (!answer.ok) {
    throw new Error(result.error);
  }
  return result;
}

export const images = (query) => ask("GET", "images", { query });
export const image = (id) => ask("GET", "images/" + id);
export const similar = (id, query) => ask("GET", `images/${id}/similar`, { query });
export const similarTo = (file, limit) => ask("POST", "similar", { query: { limit }, body: file });
export const search = (q, limit) => ask("GET", "search", { query: { q, limit } });
export const map = (query) => ask("GET", "map", { query });
export const arrange = (yes) => ask("POST", "map", { json: { arrange: yes } });
export const groups = (query) => ask("GET", "groups", { query });
export const duplicates = (query) => ask("GET", "duplicates", { query });
export const unreadable = (query) => ask("GET", "unreadable", { query });
export const classes = () => ask("GET", "classes");
export const status = () => ask("GET", "status");
export const decide = (decision) => ask("POST", "decisions", { json: decision });
export const undo = () => ask("POST", "undo");
export const redo = () => ask("POST", "redo");
export const points = () => ask("GET", "points");
export const history = (query) => ask("GET", "history", { query });
export const back = (seq) => ask("POST", "back", { json: { seq } });
export const forget = (ids) => ask("POST", "forget", { json: { images: ids } });
export const look = () => ask("POST", "look");
export const quit = () => ask("POST", "quit");
export const save = () => ask("POST", "save");
export const previewAccept = (above, name, within) =>
  ask("GET", "accept", { query: { ...within, above, class: name ?? within.class } });
export const accept = (above, name, within) =>
  ask("POST", "accept", { query: within, json: name ? { above, class: name } : { above } });
export const spotCheck = (above, name, n) =>
  ask("POST", "check", { json: name ? { above, class: name, n } : { above, n } });

export const thumb = (id) => `v1/images/${id}/thumb`;
export const photo = (id) => `v1/images/${id}/photo`;

let events;

// hangUp ends what listen began.
export const hangUp = () => events?.close();

// listen calls back with the status of every event, and with null while there
// is no connection. The browser connects again by itself.
export function listen(heard) {
  events = new EventSource("v1/events");
  for (const name of ["status", "change", "refit", "groups", "map"]) {
    events.addEventListener(name, (event) => heard(JSON.parse(event.data), name));
  }
  events.onerror = () => heard(null, "lost");
}
