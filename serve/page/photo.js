// The dialog of one photo, large, with what it might be and the learned photos
// most like it.
import * as api from "./api.js";
import { drawBoxes, hideBoxes } from "./boxes.js";
import { byId, element, percent } from "./dom.js";
import { facts } from "./shot.js";
import { aside, right, suggestions } from "./verdict.js";

const dialog = byId("photo");
let shown = null;

// open shows a photo, or another one if the dialog is open. take is called with
// the name of a suggestion.
export function open(photo, take) {
  const other = shown?.id !== photo.id;
  shown = photo;
  byId("photo-name").textContent = (photo.folder ? photo.folder + "/" : "") + photo.name;
  byId("photo-label").replaceChildren(...verdict(photo));
  byId("photo-unlabel").disabled = !photo.by || photo.by === "detector";
  byId("photo-later").disabled = Boolean(photo.label);
  byId("photo-accept").disabled = !right(photo);
  byId("photo-accept").hidden = Boolean(photo.rather);
  byId("photo-keep").hidden = !photo.rather;
  byId("photo-keep").textContent = byId("photo-keep").title = "Keep " + photo.label;
  byId("photo-top").replaceChildren(...suggestions(photo).map(({ class: name, probability }) => {
    const bar = element("i", { "aria-hidden": "true" });
    bar.style.width = 100 * (probability ?? 0) + "%";
    const sure = element("span", { className: "p" }, probability === undefined ? "" : percent(probability));
    const button = element("button", { type: "button" }, element("span", {}, name), sure, bar);
    button.addEventListener("click", () => take(name));
    return element("li", {}, button);
  }));
  if (other) {
    showPicture(photo);
    showSimilar(photo);
    showFacts(photo);
  }
  if (!dialog.open) {
    dialog.showModal();
    dialog.focus(); // not the first button, which would have Enter and Space
  }
}

// showPicture shows what is at hand until the large picture has come. Of a box that is only a
// part.
function showPicture(photo) {
  const picture = byId("photo-picture");
  picture.src = api.thumb(photo.id);
  picture.alt = photo.name;
  hideBoxes();
  const large = new Image();
  large.onload = async () => {
    if (shown?.id === photo.id) {
      picture.src = large.src;
      if (photo.box) {
        await drawBoxes(photo, picture, large, () => shown?.id === photo.id);
      }
    }
  };
  large.src = api.photo(photo.id);
}

export const isOpen = () => dialog.open;

export function close() {
  dialog.close();
}

dialog.addEventListener("close", () => { shown = null; });
byId("photo-close").addEventListener("click", close);
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) {
    close();
  }
});

function verdict(photo) {
  if (aside(photo)) {
    return [element("strong", {}, aside(photo)), " decided one by one"];
  }
  if (!photo.label) {
    return photo.unknown ? [element("strong", {}, "Perhaps none of the classes")] : ["Not decided"];
  }
  const by = { person: "decided one by one", bulk: "accepted in bulk", folder: "from a folder or list",
    detector: "by the detector" }[photo.by];
  const rather = photo.rather ? ["; rather ", element("strong", {}, photo.rather)] : [];
  return [element("strong", {}, photo.label), " ", by, ...rather];
}

// showFacts asks for what the list had not yet.
async function showFacts(photo) {
  const box = byId("photo-shot");
  box.replaceChildren(...facts(photo));
  if (!photo.shot) {
    const now = await api.image(photo.id).catch(() => photo);
    if (shown?.id === photo.id) {
      box.replaceChildren(...facts(now));
    }
  }
}

async function showSimilar(photo) {
  const strip = byId("photo-similar");
  strip.replaceChildren();
  const answer = await api.similar(photo.id, { decided: true, limit: 6 }).catch(() => ({ images: [] }));
  if (shown?.id !== photo.id) {
    return;
  }
  strip.replaceChildren(...answer.images.map(({ image, similarity }) => element("li", {},
    element("img", { src: api.thumb(image.id), alt: image.name, loading: "lazy", width: 84, height: 84 }),
    element("span", { title: image.label ?? "" }, image.label ?? ""),
    element("small", {}, percent(Math.max(0, similarity))))));
  if (answer.images.length === 0) {
    strip.append(element("li", { className: "none" }, "None yet"));
  }
}
