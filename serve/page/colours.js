// What the colours of the map mean. Each of the ways gives every photo one of a few entries of
// the legend. The colours are told apart with any colour vision, and each entry can be seen alone.
import { percent } from "./dom.js";

// Of the largest classes, and of decisions, for a light and a dark page; after Okabe and Ito.
const hues = [
  ["#0072b2", "#c24e00", "#007f5f", "#a8438f", "#332288", "#7a6a00", "#882255"],
  ["#56b4e9", "#e69f00", "#00b98a", "#cc79a7", "#f0e442", "#9aa7ff", "#ff8a5c"],
];
// Of classes after those: each hue is far from the last ones, and the lightness changes, too.
const more = [[[58, 45], [38, 60]], [[62, 65], [80, 45]]];
const mostColoured = 60;

function hue(theme, at) {
  const [light, saturation] = more[theme][at % 2];
  return hex((at * 137.5 + 20) % 360, saturation / 100, light / 100);
}

// hex writes a colour of HSL as number() of the map reads it.
function hex(h, s, l) {
  const part = (n) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return "#" + [0, 8, 4].map((n) => part(n).toString(16).padStart(2, "0")).join("");
}

// Of what has an order: the last stands out most.
const steps = [
  ["#a9b8d3", "#7f97c6", "#5674b4", "#2f4f9a", "#101f55"],
  ["#40506f", "#56719f", "#7b9bd2", "#adc8f5", "#f2f6ff"],
];
const rests = ["#8d9096", "#72767f"]; // of what has no colour of its own
export const faints = ["#dcdcd8", "#2a2c33"]; // of what is not looked at

export const dark = () => (matchMedia("(prefers-color-scheme: dark)").matches ? 1 : 0);

const day = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

// Each way takes the columns of /v1/map and the numbers of the photos that are shown, and
// returns the names of the legend, which of them the rest is, if there is one, and of which
// entry a photo is.
const ways = {
  class({ classes, class: its }, shown) {
    const counts = classes.map((_, c) => [c, 0]);
    for (const i of shown) {
      if (its[i] >= 0) {
        counts[its[i]][1]++;
      }
    }
    const most = counts.filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]).slice(0, mostColoured);
    const palette = hues.map((some, theme) => most.map((_, at) => some[at] ?? hue(theme, at)));
    const entry = new Map(most.map(([c], at) => [c, at]));
    return {
      names: [...most.map(([c]) => classes[c]), "Other classes, or none"], rest: most.length, palette,
      of: (i) => entry.get(its[i]) ?? most.length,
    };
  },
  decision({ states, state }) {
    const names = ["Decided one by one", "Accepted in bulk", "From a folder or list", "Looks unknown", "Set aside",
      "Detector's", "Open"];
    const entry = { person: 0, bulk: 1, folder: 2, unknown: 3, ignored: 4, skipped: 4, several: 4, detector: 5 };
    const entries = states.map((name) => entry[name] ?? 6);
    return { names, rest: 6, palette: hues, of: (i) => entries[state[i]] };
  },
  doubt({ permille }) {
    const least = [990, 950, 800, 500, 0];
    const names = least.map((v, at) => (at === least.length - 1 ? "Less" : percent(v / 1000) + " sure or more"));
    return {
      names: [...names, "Nobody knows"], rest: least.length, palette: steps,
      of: (i) => (permille[i] < 0 ? least.length : least.findIndex((v) => permille[i] >= v)),
    };
  },
  time({ taken }, shown) {
    const [first, last] = shown.reduce(([a, b], i) =>
      (taken[i] === null ? [a, b] : [Math.min(a, taken[i]), Math.max(b, taken[i])]), [Infinity, -Infinity]);
    const n = steps[0].length;
    const width = Math.max(1, last - first) / n;
    const names = Array.from({ length: n }, (_, k) => (last < first ? "" : "From " + date(first + k * width)));
    return {
      names: [...names, "At an unknown time"], rest: n, palette: steps,
      of: (i) => (taken[i] === null ? n : Math.min(n - 1, Math.floor((taken[i] - first) / width))),
    };
  },
};

const date = (seconds) => day.format(new Date(1000 * seconds));

// colour returns the entries of the legend, {name, count, css}, and for each photo the number
// of its entry.
export function colour(way, columns, shown) {
  const { names, rest, palette, of } = ways[way](columns, shown);
  const theme = dark();
  const legend = names.map((name, at) => ({ name, count: 0, css: at === rest ? rests[theme] : palette[theme][at] }));
  const entries = new Uint8Array(columns.class.length);
  for (const i of shown) {
    entries[i] = of(i);
    legend[entries[i]].count++;
  }
  return { legend, entries };
}
