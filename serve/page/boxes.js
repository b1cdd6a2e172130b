// The boxes of a photo, drawn over it.
import * as api from "./api.js";
import { byId } from "./dom.js";
import { named } from "./verdict.js";

const most = 500; // boxes that are drawn

function shape(name, attributes, text = "") {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    e.setAttribute(key, value);
  }
  e.textContent = text;
  return e;
}

// hideBoxes takes away those of the photo before.
export function hideBoxes() {
  byId("photo-boxes").replaceChildren();
}

// drawBoxes draws the boxes of a photo over its picture, of the size of the large one, and
// marks one of them; here tells whether it is still the one that is seen.
export async function drawBoxes(marked, picture, large, here) {
  const { images } = await api.images({ beside: marked.id, limit: most }).catch(() => ({ images: [marked] }));
  if (!here()) {
    return;
  }
  const { naturalWidth: width, naturalHeight: height } = large;
  const box = byId("photo-boxes");
  box.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const seen = picture.getBoundingClientRect();
  const letters = 14 / Math.min(seen.width / width, seen.height / height); // 14 pixels of the screen
  const others = images.filter(({ id }) => id !== marked.id);
  box.replaceChildren(...[...others, marked].flatMap((one) => {
    const { x, y, w, h } = one.box;
    const kind = one.id === marked.id ? "marked" : one.by === "detector" ? "detected" : "";
    const edge = { x: x * width, y: y * height, width: w * width, height: h * height };
    const above = edge.y > 1.5 * letters ? edge.y - letters / 3 : edge.y + 1.1 * letters;
    return [shape("rect", { ...edge, class: "halo" }), shape("rect", { ...edge, class: kind }),
      shape("text", { x: edge.x + letters / 5, y: above, "font-size": letters, class: kind }, named(one))];
  }));
  const beside = others.map(named).join(", ");
  picture.alt = `${marked.name}: ${named(marked)}` + (beside && `, beside ${beside}`);
}
