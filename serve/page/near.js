// Names that are probably meant to be the same: banana, Bananas and bannana.

const plain = (name) => name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const words = (name) => plain(name).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
const single = (word) =>
  word.replace(/(?<=...)ies$/, "y").replace(/(?<=..(?:s|x|z|ch|sh))es$/, "").replace(/(?<=..)s$/, "");
const shortest = 4; // letters of a word in which one may be wrong: bat and cat are two things

// nearest returns the name that another one is probably a spelling of; undefined for none,
// and for one that is among the names.
export function nearest(name, names) {
  return names.includes(name) ? undefined : names.find((other) => same(name, other)) ??
    names.find((other) => oneWrong(words(name), words(other)));
}

const joined = (name) => words(name).map(single).join("");

function same(a, b) {
  return joined(a) === joined(b) && joined(a) !== "";
}

// oneWrong reports whether two names differ in one letter of one long word. Digits tell
// things apart: size 38 and size 39 are two.
function oneWrong(a, b) {
  const other = a.map((word, i) => [word, b[i] ?? ""]).filter(([x, y]) => x !== y);
  if (a.length !== b.length || other.length !== 1) {
    return false;
  }
  const [xs, ys] = other[0].map((word) => [word, single(word)]); // “Galss” for “Glas” is one in “Gals”
  return xs.some((x) => ys.some((y) =>
    Math.min(x.length, y.length) >= shortest && !/\p{N}/u.test(x + y) && oneEdit(x, y)));
}

// oneEdit reports whether a letter was left out, added, changed or exchanged with the next.
function oneEdit(a, b) {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  let at = 0;
  while (at < short.length && short[at] === long[at]) {
    at++;
  }
  const [x, y] = [short.slice(at), long.slice(at)];
  if (long.length > short.length) {
    return y.slice(1) === x;
  }
  return x.slice(1) === y.slice(1) || (x[0] === y[1] && x[1] === y[0] && x.slice(2) === y.slice(2));
}
