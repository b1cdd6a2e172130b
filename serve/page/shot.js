// What photos say of themselves: when, where and with which camera they were taken.
import { count, element, percent, photos } from "./dom.js";

const clock = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "medium", timeZone: "UTC" });

// when writes a time as the clock of the camera showed it, whatever the browser's zone.
function when(time) {
  const [, shown, offset] = time.match(/^(.{19}(?:\.\d+)?)(Z|[+-]\d\d:\d\d)?$/);
  return clock.format(new Date(shown + "Z")) + (offset ? ` (UTC${offset === "Z" ? "" : offset})` : "");
}

const angle = (degrees, [positive, negative]) =>
  `${Math.abs(degrees).toFixed(5)}° ${degrees < 0 ? negative : positive}`;

// facts returns the entries of a description list.
export function facts({ folder, shot, box }) {
  const { time, camera, place } = shot ?? {};
  const known = {
    Taken: time ? when(time) : shot ? "The photo does not say when" : "…",
    Camera: camera,
    Place: place && `${angle(place.latitude, "NS")}, ${angle(place.longitude, "EW")}`,
    Folder: folder,
    Box: box && `${box.number}, ${box.category}, ${percent(box.confidence)}`,
  };
  return Object.entries(known).filter(([, text]) => text).map(([name, text]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, text)));
}

// untimed says how many photos of a list have no place in the order, or the range, of time, and
// of how many images that is not known yet.
export function untimed({ untimed: n }, asked, images) {
  if (!n) {
    return "";
  }
  const text = asked.taken_since || asked.taken_until
    ? `${photos(n)} without a time ${n === 1 ? "is" : "are"} left out.`
    : `${photos(n)} without a time come${n === 1 ? "s" : ""} last.`;
  const left = images ? images.embedded - images.seen : 0;
  return left > 0 ? `${text} The times of ${count(left)} are still being read.` : text;
}
