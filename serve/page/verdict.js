// What may be said of a photo: what accepting means, and what is suggested.

// right is the class that "accept" gives a photo: its label, or the likeliest class. There
// is none if that is in doubt: if the label is probably wrong, or the photo looks unknown.
export function right(photo) {
  if (["ignored", "several", "detector"].includes(photo.by)) {
    return undefined;
  }
  if (photo.label) {
    return photo.rather ? undefined : photo.label;
  }
  return photo.unknown || mixed(photo) ? undefined : photo.prediction[0]?.class;
}

// mixed reports whether a tile stands for an event whose photos contradict each other.
const mixed = ({ event }) => event?.classes.length > 1;

// aside says as what somebody has set a photo aside; undefined for others.
export const aside = ({ by, labels }) =>
  ({ ignored: "Not usable", skipped: "For later", several: labels.join(", ") })[by];

// named says in a word or two what a photo shows: its label, or what it probably is.
export const named = (photo) =>
  photo.label ?? aside(photo) ?? probably(photo) ?? photo.box?.category ?? photo.name;

function probably(photo) {
  if (mixed(photo)) {
    return photo.event.classes.join(" + ");
  }
  return photo.unknown ? "new?" : photo.prediction[0]?.class;
}

// suggestions are the likeliest classes, {class, probability}, before them what a label in
// doubt should rather be. That can have no probability: only a model that has not learned
// the photo says it.
export function suggestions({ prediction, rather }) {
  if (!rather) {
    return prediction;
  }
  const others = prediction.filter((one) => one.class !== rather);
  return [prediction.find((one) => one.class === rather) ?? { class: rather }, ...others];
}

// doubts says what Enter does not accept, and how to decide instead; "" without doubt.
export function doubts(of) {
  if (of.length > 0 && of.every((photo) => photo.by === "detector")) {
    return "The detector says so, and nothing is learned from it. If it is wrong, type what it shows.";
  }
  if (of.some((photo) => !photo.label && mixed(photo))) {
    return "These photos seem to show several classes. Open the event (Alt+Enter), or type a name for all.";
  }
  const labels = of.filter((photo) => photo.rather);
  if (labels.length > 0) {
    const [what, them] = labels.length === 1
      ? [`The label “${labels[0].label}” is`, "it"]
      : [labels.length + " labels are", "them"];
    return `${what} in doubt: 0 keeps ${them}, 1 takes the first suggestion.`;
  }
  const text = "What looks like none of the classes needs a name: type it, or take a suggestion with 1.";
  return of.some((photo) => photo.unknown) ? text : "";
}
