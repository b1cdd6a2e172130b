// The bar below the photos: what the next decision is about, and what can be decided at
// once.
import { byId, photos } from "./dom.js";
import { right } from "./verdict.js";

// whatIs names a tile.
function whatIs(tile) {
  const name = tile?.event ? `Event of ${photos(tile.event.size)}` : tile?.name ?? "";
  const settles = Math.round(tile?.settles ?? 0);
  return settles > 1 ? `${name} · this answer settles about ${photos(settles)}` : name;
}

// showAct writes the bar for the current photo, if there is one, and the photos that a
// decision is about, of which so many were selected. Of a label in doubt no answer is the
// one to press without looking.
export function showAct(current, about, selected) {
  byId("act").hidden = !current;
  byId("nothing").hidden = byId("forget").hidden = selected === 0;
  byId("everything").hidden = selected > 0;
  titled("chosen", selected > 0 ? photos(selected) + " selected" : whatIs(current));
  const one = about.length === 1 ? about[0] : null;
  const doubted = about.filter((photo) => photo.rather);
  const instead = new Set(doubted.map((photo) => photo.rather));
  titled("accept", one && right(one) ? "Accept " + right(one) : "Accept");
  byId("accept").disabled = !about.some(right);
  byId("accept").hidden = doubted.length > 0 && !about.some(right);
  byId("later").disabled = about.every((photo) => photo.label);
  byId("keep").hidden = byId("change").hidden = doubted.length === 0;
  titled("keep", one ? "Keep " + one.label : "Keep the labels");
  titled("change", instead.size === 1 ? "Change to " + [...instead][0] : "Take the suggestions");
}

// titled writes a text that may be longer than its place.
function titled(id, text) {
  byId(id).textContent = byId(id).title = text;
}
