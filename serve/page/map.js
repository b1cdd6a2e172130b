// The map of the folder: a point for each photo, near those that are alike. It moves and zooms
// with mouse, fingers and keys, and what is encircled is selected.
import * as api from "./api.js";
import { colour, dark, faints } from "./colours.js";
import { byId, element, percent, photos } from "./dom.js";
import { Plane } from "./plane.js";
import { released } from "./pointer.js";
import { named } from "./verdict.js";

const reach = 24; // CSS pixels within which a photo is meant
const pause = 80; // milliseconds before what is pointed at is fetched
const glideTime = 700; // milliseconds in which points go to new places

export class PhotoMap extends EventTarget {
  #canvas = byId("map-canvas");
  #plane = new Plane(this.#canvas);
  #selection;
  #columns = { version: 0, ids: [], x: [], y: [], class: [], states: [] };
  #at = new Map(); // number of each id
  #seen = new Map(); // photos that were fetched, by id
  #legend = [];
  #entries = [];
  #picked = new Uint8Array(); // 1 for what is selected
  #only = -1; // the entry that is seen alone
  #current = -1; // that the next decision is about
  #pointed = -1; // of which a small picture is seen
  #fitted = false;
  #place = [0, 0]; // of the cross, as a point
  #anchor = [0, 0]; // where the rectangle begins
  #byKeys = false; // whether the cross is seen
  #fingers = new Map(); // pointers that are down, and where
  #moved = false;
  #path = null; // of the lasso
  #turn = 0;
  #frame = 0;
  #timer = 0;

  computing = false;
  stopped = false; // the arrangement
  #share = null; // of it that is done
  #gliding = 0;

  constructor(selection) {
    super();
    this.#selection = selection;
    selection.addEventListener("change", () => this.#pick());
    new ResizeObserver(() => this.#measure()).observe(this.#canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#colour());
    byId("map-by").addEventListener("change", () => { this.#only = -1; this.#colour(); });
    byId("map-lasso").addEventListener("click", ({ currentTarget }) =>
      currentTarget.setAttribute("aria-pressed", currentTarget.getAttribute("aria-pressed") !== "true"));
    byId("map-in").addEventListener("click", () => this.#zoom(1.5));
    byId("map-out").addEventListener("click", () => this.#zoom(1 / 1.5));
    byId("map-all").addEventListener("click", () => this.end(-1));
    for (const [name, take] of Object.entries({
      down: this.#down, move: this.#drag, up: this.#up, cancel: this.#cancel, leave: this.#leave,
    })) {
      this.#canvas.addEventListener("pointer" + name, take.bind(this));
    }
    this.#canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.#canvas.addEventListener("dblclick", () => this.#send("open"));
    this.#canvas.addEventListener("blur", () => this.#draw());
    this.#canvas.addEventListener("focus", () => this.#draw());
  }

  get size() { return this.#plane.shown.length; }

  // photo is what was clicked, or is near the cross.
  get photo() { return this.#current < 0 ? undefined : this.#photo(this.#current); }

  has(id) { return this.#at.has(id) && this.#shows(this.#at.get(id)); }

  // photosOf returns what is known of photos, enough to decide about them.
  photosOf(ids) { return ids.filter((id) => this.has(id)).map((id) => this.#photo(this.#at.get(id))); }

  // selectAll selects the photos that are in sight, too.
  selectAll() {
    this.#land();
    this.#select(this.#plane.within([0, 0], [this.#plane.width, this.#plane.height]), true);
  }

  #shows(i) { return this.#columns.states[this.#columns.state[i]] !== "hidden"; }

  // select selects points, but not those that are faint, and has a current one.
  #select(points, add) {
    const met = this.#only < 0 ? points : points.filter((i) => this.#entries[i] === this.#only);
    if (this.#current < 0 && met.length > 0) {
      this.#current = met[0];
    }
    this.#selection[add ? "add" : "set"](met.map((i) => this.#columns.ids[i]));
  }

  #photo(i) {
    const { ids, classes, states, state, permille } = this.#columns;
    const seen = this.#seen.get(ids[i]);
    if (seen) {
      return seen;
    }
    const name = (c) => classes[c] ?? null;
    const its = states[state[i]];
    const labelled = ["person", "bulk", "folder", "detector"].includes(its);
    const guess = { class: name(this.#columns.class[i]), probability: permille[i] / 1000 };
    return {
      id: ids[i], name: "", by: ["open", "unknown"].includes(its) ? null : its, labels: [], unknown: its === "unknown",
      label: labelled ? guess.class : null, rather: name(this.#columns.rather[i]),
      prediction: labelled || !guess.class ? [] : [guess],
    };
  }

  #send(name) {
    this.dispatchEvent(new Event(name));
  }

  // load fetches the map, of the places only what is new.
  async load(searching) {
    const turn = ++this.#turn;
    const answer = await api.map({ ...searching, have: this.#columns.version });
    await released();
    if (turn !== this.#turn) {
      return;
    }
    [this.computing, this.stopped] = [answer.computing, answer.stopped];
    const current = this.#columns.ids[this.#current];
    const other = answer.ids !== null;
    const known = other ? answer : this.#columns;
    this.#land();
    const before = { at: this.#at, x: this.#plane.x, y: this.#plane.y };
    this.#columns = { ...answer, ids: known.ids, x: known.x, y: known.y };
    this.tell(this.#share);
    this.#seen.clear();
    if (other) {
      this.#at = new Map(known.ids.map((id, i) => [id, i]));
      [this.#plane.x, this.#plane.y] = [known.x, known.y];
    }
    this.#current = this.has(current) ? this.#at.get(current) : -1;
    this.#pointed = -1;
    this.#plane.shown = known.ids.map((_, i) => i).filter((i) => this.#shows(i));
    this.#colour();
    this.#pick();
    if (other) {
      this.#fitted = false;
      this.#measure();
      this.#glide(before);
    }
    this.#point(this.#current);
    this.#send("current");
  }

  // tell says which share of the arrangement is done, and offers to stop it or to begin it again.
  tell(share) {
    this.#share = share;
    const { arranged, too_many: tooMany } = this.#columns;
    const running = share !== null && !this.stopped;
    byId("map-arrange").hidden = tooMany || !(running || (this.stopped && !arranged));
    byId("map-arrange").textContent = running ? `Stop arranging (${percent(share)})` : "Arrange by likeness";
    byId("map-note").hidden = !tooMany;
  }

  // arrange stops the arrangement, or begins it again, and returns the status.
  async arrange() {
    const { status } = await api.arrange(this.stopped);
    this.stopped = !this.stopped;
    return status;
  }

  // glide lets the points go from where they were to where they are now.
  #glide({ at, x, y }) {
    const { ids, x: toX, y: toY } = this.#columns;
    if (at.size === 0 || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      return;
    }
    const was = ids.map((id) => at.get(id) ?? -1);
    const from = (old, to) => to.map((v, i) => (was[i] < 0 ? v : old[was[i]]));
    const [fromX, fromY] = [from(x, toX), from(y, toY)];
    const begun = performance.now();
    const step = () => {
      const t = Math.min(1, (performance.now() - begun) / glideTime);
      const share = t * t * (3 - 2 * t);
      const between = (a, b) => b.map((v, i) => a[i] + share * (v - a[i]));
      [this.#plane.x, this.#plane.y] = t < 1 ? [between(fromX, toX), between(fromY, toY)] : [toX, toY];
      this.#draw();
      if (t < 1) {
        this.#gliding = requestAnimationFrame(step);
      }
    };
    step();
  }

  // land ends that.
  #land() {
    cancelAnimationFrame(this.#gliding);
    [this.#plane.x, this.#plane.y] = [this.#columns.x, this.#columns.y];
  }

  #pick() {
    this.#picked = new Uint8Array(this.#columns.ids.length);
    for (const id of this.#selection.ids) {
      this.#picked[this.#at.get(id)] = 1; // of those that are here
    }
    this.#draw();
  }

  #colour() {
    const { legend, entries } = colour(byId("map-by").value, this.#columns, this.#plane.shown);
    [this.#legend, this.#entries] = [legend, entries];
    byId("map-legend").replaceChildren(...legend.map((entry, at) => this.#key(entry, at)).filter(Boolean));
    this.#draw();
  }

  // key is a button of the legend, which shows its photos alone.
  #key({ name, count, css }, at) {
    if (count === 0) {
      return null;
    }
    const swatch = element("i", { "aria-hidden": "true" });
    swatch.style.background = css;
    const button = element("button", { type: "button", title: photos(count), "aria-pressed": at === this.#only },
      swatch, element("span", {}, name));
    button.addEventListener("click", () => {
      this.#only = this.#only === at ? -1 : at;
      for (const other of byId("map-legend").children) {
        other.setAttribute("aria-pressed", other === button && this.#only >= 0);
      }
      this.#draw();
    });
    return button;
  }

  #measure() {
    if (!this.#fitted) {
      this.end(-1);
    }
    this.#draw();
  }

  #draw() {
    if (this.#frame === 0) {
      this.#frame = requestAnimationFrame(() => { this.#frame = 0; this.#paint(); });
    }
  }

  #paint() {
    if (!this.#canvas.checkVisibility() || !this.#plane.resize()) {
      return;
    }
    const text = getComputedStyle(this.#canvas).color;
    const colours = this.#legend.map(({ css }) => number(css));
    const faint = number(faints[dark()]);
    const edge = number(dark() ? "#ffffff" : "#000000");
    this.#plane.paint((i) => (this.#only < 0 || this.#entries[i] === this.#only ? colours[this.#entries[i]] : faint),
      (i) => (this.#picked[i] ? edge : 0));
    this.#plane.lines(text, (c) => this.#lines(c));
  }

  #lines(c) {
    if (this.#current >= 0) {
      const [x, y] = this.#plane.atPoint(this.#current);
      c.beginPath();
      c.arc(x, y, this.#plane.radius + 5, 0, 2 * Math.PI);
      c.stroke();
    }
    if (this.#path) {
      c.setLineDash([6, 4]);
      c.beginPath();
      this.#path.forEach(([x, y]) => c.lineTo(x, y));
      c.closePath();
      c.stroke();
    }
    if (this.#byKeys && document.activeElement === this.#canvas) {
      const [x, y] = this.#plane.at(this.#place);
      const [ax, ay] = this.#plane.at(this.#anchor);
      c.setLineDash([]);
      c.beginPath();
      c.moveTo(x - 14, y);
      c.lineTo(x + 14, y);
      c.moveTo(x, y - 14);
      c.lineTo(x, y + 14);
      c.stroke();
      c.setLineDash([6, 4]);
      c.strokeRect(Math.min(x, ax), Math.min(y, ay), Math.abs(x - ax), Math.abs(y - ay));
    }
  }

  // --- what is pointed at

  // choose makes a photo the current one; without any, the last one stays.
  #choose(i) {
    this.#point(i);
    if (i >= 0) {
      this.#current = i;
      this.#draw();
      this.#send("current");
    }
  }

  // point shows a photo, and fetches what else is known of it.
  #point(i) {
    clearTimeout(this.#timer);
    this.#pointed = i;
    this.#tell();
    if (i >= 0 && !this.#seen.has(this.#columns.ids[i])) {
      this.#timer = setTimeout(() => this.#fetch(this.#columns.ids[i]), pause);
    }
  }

  async #fetch(id) {
    try {
      const turn = this.#turn;
      const photo = await api.image(id);
      if (turn === this.#turn) {
        this.#seen.set(id, photo);
        this.#tell();
        this.#send("current");
      }
    } catch (error) {
      this.dispatchEvent(new CustomEvent("fail", { detail: error }));
    }
  }

  #tell() {
    const tip = byId("map-tip");
    const photo = this.#seen.get(this.#columns.ids[this.#pointed]);
    tip.hidden = !photo || this.#fingers.size > 0;
    byId("map-at").textContent = photo ? `${photo.name}: ${named(photo)}` : "";
    if (!photo) {
      return;
    }
    const [picture, what, file] = tip.children;
    picture.src = api.thumb(photo.id);
    what.textContent = named(photo);
    file.textContent = photo.name;
    const [x, y] = this.#plane.atPoint(this.#pointed);
    const left = x + 16 + tip.offsetWidth > this.#plane.width ? x - 16 - tip.offsetWidth : x + 16;
    tip.style.left = Math.max(0, left) + "px";
    tip.style.top = Math.max(0, Math.min(y + 16, this.#plane.height - tip.offsetHeight)) + "px";
  }

  // --- keys, as of the Grid

  // move moves the cross; with range, what is in the rectangle to it is selected.
  move(columns, rows, range) {
    this.#land();
    const step = Math.min(this.#plane.width, this.#plane.height) / 24;
    let [x, y] = this.#plane.at(this.#place);
    x += columns * step;
    y += rows * step;
    const [dx, dy] = [clamp(x, step, this.#plane.width - step) - x, clamp(y, step, this.#plane.height - step) - y];
    this.#plane.pan(dx, dy);
    this.#place = this.#plane.from([x + dx, y + dy]);
    this.#byKeys = true;
    if (range) {
      this.#select(this.#plane.within(this.#plane.at(this.#anchor), [x + dx, y + dy]), false);
    } else {
      this.#anchor = this.#place;
    }
    this.#choose(this.#plane.nearest([x + dx, y + dy], reach));
    this.#draw();
  }

  page(pages) { this.#zoom(1.5 ** -pages, this.#plane.at(this.#place)); }

  // end shows everything, or, the other way, what is selected or else around the cross.
  end(way) {
    const some = this.#plane.shown.filter((i) => this.#picked[i]);
    if (this.size === 0 || !this.#plane.resize()) {
      return;
    }
    if (way < 0) {
      this.#fitted = true;
      this.#plane.fit(this.#plane.shown);
      this.#place = this.#plane.from([this.#plane.width / 2, this.#plane.height / 2]);
      this.#anchor = this.#place;
    } else if (some.length > 0) {
      this.#plane.fit(some, 16);
    } else {
      this.#zoom(4, this.#plane.at(this.#place));
    }
    this.#tell();
    this.#draw();
  }

  #zoom(factor, [x, y] = [this.#plane.width / 2, this.#plane.height / 2]) {
    this.#plane.zoom(factor, x, y);
    this.#tell();
    this.#draw();
  }

  // --- mouse and fingers

  #wheel(event) {
    event.preventDefault();
    this.#zoom(1.0015 ** -event.deltaY, [event.offsetX, event.offsetY]);
  }

  #down(event) {
    if (event.button !== 0) {
      return;
    }
    this.#land();
    this.#canvas.setPointerCapture(event.pointerId);
    this.#fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    this.#moved = this.#fingers.size > 1;
    const lasso = event.shiftKey || byId("map-lasso").getAttribute("aria-pressed") === "true";
    this.#path = lasso && this.#fingers.size === 1 ? [[event.offsetX, event.offsetY]] : null;
    this.#byKeys = false;
  }

  #drag(event) {
    const to = [event.offsetX, event.offsetY];
    const from = this.#fingers.get(event.pointerId);
    if (!from) {
      if (event.pointerType === "mouse") {
        this.#point(this.#plane.nearest(to, reach / 2));
      }
      return;
    }
    if (!this.#moved && distance(from, to) < 4) { // of a click
      return;
    }
    this.#moved = true;
    if (this.#path) {
      this.#path.push(to);
    } else {
      const other = [...this.#fingers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        this.#plane.zoom(distance(other, to) / Math.max(1, distance(other, from)), ...other);
      }
      const share = other ? 0.5 : 1; // two fingers move it together
      this.#plane.pan(share * (to[0] - from[0]), share * (to[1] - from[1]));
    }
    this.#fingers.set(event.pointerId, to);
    this.#tell();
    this.#draw();
  }

  #up(event) {
    if (!this.#fingers.delete(event.pointerId)) {
      return;
    }
    const add = event.shiftKey || event.ctrlKey || event.metaKey;
    if (!this.#moved) {
      this.#click([event.offsetX, event.offsetY], add);
    } else if (this.#path) {
      this.#select(this.#plane.inside(this.#path), add);
    }
    this.#path = null;
    this.#tell();
    this.#draw();
  }

  #cancel(event) {
    this.#fingers.delete(event.pointerId);
    this.#path = null;
    this.#draw();
  }

  #leave(event) {
    if (event.pointerType === "mouse" && this.#fingers.size === 0) {
      this.#point(-1);
    }
  }

  #click(place, toggle) {
    this.#place = this.#plane.from(place);
    this.#anchor = this.#place;
    this.#choose(this.#plane.nearest(place, reach));
    if (toggle && this.#pointed >= 0) {
      this.#selection.toggle(this.#columns.ids[this.#pointed]);
    }
  }
}

const clamp = (v, least, most) => Math.max(least, Math.min(most, v));

const distance = ([ax, ay], [bx, by]) => Math.hypot(ax - bx, ay - by);

// number returns #rrggbb as the pixels of a canvas have it.
function number(css) {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(css.slice(at, at + 2), 16));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
