// A Grid shows a PhotoList as tiles and draws only the rows in sight. One tile
// is the current one: the keyboard acts on it.
import { count, element, percent, photos } from "./dom.js";
import { thumb } from "./api.js";
import { aside, named } from "./verdict.js";

const gap = 10;
const footer = 46; // below the picture, in CSS pixels

export class Grid extends EventTarget {
  #box;
  #scroller;
  #selection;
  #list = null;
  #columns = 1;
  #side = 190;
  #tiles = new Map();
  #dragFrom = null;
  #anchor = 0;

  current = 0;

  constructor(box, scroller, selection) {
    super();
    this.#box = box;
    this.#scroller = scroller;
    this.#selection = selection;
    scroller.addEventListener("scroll", () => this.#draw(), { passive: true });
    new ResizeObserver(() => this.#measure()).observe(scroller);
    selection.addEventListener("change", () => this.#draw());
    box.addEventListener("focus", () => this.#draw());
    box.addEventListener("click", (event) => this.#click(event));
    box.addEventListener("dblclick", () => this.#send("open"));
    box.addEventListener("pointerdown", (event) => {
      this.#dragFrom = event.pointerType === "mouse" && event.button === 0 ? this.#indexOf(event.target) : null;
    });
    box.addEventListener("pointermove", (event) => this.#drag(event));
    document.addEventListener("pointerup", () => { this.#dragFrom = null; });
  }

  // show begins another list, from its first photo.
  show(list) {
    this.#list?.removeEventListener("change", this.#redraw);
    this.#list = list;
    list.addEventListener("change", this.#redraw);
    this.current = 0;
    this.#anchor = 0;
    this.#tiles.forEach((tile) => tile.remove());
    this.#tiles.clear();
    this.#scroller.scrollTop = 0;
    this.#measure();
  }

  #redraw = () => {
    this.current = Math.max(0, Math.min(this.current, this.#list.total - 1));
    this.#draw();
    this.#send("current");
  };

  get photo() { return this.#list?.items[this.current]; }

  // seen is the number of photos up to the last in sight: they stay where they
  // are when the order changes.
  get seen() {
    return (Math.floor((this.#scroller.scrollTop + this.#scroller.clientHeight) / this.#row) + 1) * this.#columns;
  }

  get #row() { return this.#side + footer + gap; }

  #send(name) {
    this.dispatchEvent(new Event(name));
  }

  #measure() {
    if (!this.#list || this.#scroller.clientWidth === 0) {
      return;
    }
    const style = getComputedStyle(this.#box);
    const width = this.#scroller.clientWidth - parseFloat(style.marginLeft) - parseFloat(style.marginRight);
    const least = parseFloat(style.getPropertyValue("--least"));
    const seen = this.#tiles.has(this.photo?.id);
    this.#columns = Math.max(2, Math.floor((width + gap) / (least + gap)));
    this.#side = Math.floor((width + gap) / this.#columns) - gap;
    this.#box.style.setProperty("--columns", this.#columns);
    this.#box.style.setProperty("--side", this.#side + "px");
    this.#draw();
    if (seen) { // it is elsewhere in other columns
      this.#reveal();
      this.#draw();
    }
  }

  #draw() {
    if (!this.#list || this.#box.hidden) {
      return;
    }
    const rows = Math.ceil(this.#list.total / this.#columns);
    const high = this.#scroller.clientHeight;
    const top = Math.min(this.#scroller.scrollTop, Math.max(0, rows * this.#row - high)); // the list may be shorter now
    const first = Math.max(0, Math.floor(top / this.#row) - 1);
    const last = Math.min(rows, Math.ceil((top + high) / this.#row) + 1);
    this.#box.style.height = rows * this.#row + "px";
    this.#box.style.paddingTop = first * this.#row + "px";
    const from = first * this.#columns;
    const to = Math.min(this.#list.total, last * this.#columns);
    this.#list.reach(to - 1).catch((error) => this.dispatchEvent(new CustomEvent("fail", { detail: error })));
    const shown = new Set();
    let before = null;
    for (let i = from; i < Math.min(to, this.#list.items.length); i++) {
      const photo = this.#list.items[i];
      const tile = this.#tile(photo, i);
      shown.add(photo.id);
      const place = before ? before.nextSibling : this.#box.firstChild;
      if (place !== tile) {
        this.#box.insertBefore(tile, place);
      }
      before = tile;
    }
    for (const [id, tile] of this.#tiles) {
      if (!shown.has(id)) {
        tile.remove();
        this.#tiles.delete(id);
      }
    }
    const photo = this.photo;
    if (photo && shown.has(photo.id)) {
      this.#box.setAttribute("aria-activedescendant", "p-" + photo.id);
    } else {
      this.#box.removeAttribute("aria-activedescendant");
    }
  }

  // tile returns the tile of a photo, and makes or fills it if the photo is not
  // the one that it shows.
  #tile(photo, i) {
    let tile = this.#tiles.get(photo.id);
    if (!tile) {
      tile = element("div", { id: "p-" + photo.id, role: "option", className: "tile" },
        element("span", { className: "tick", "aria-hidden": "true", title: "Select" }),
        element("img",
          { alt: photo.name, decoding: "async", draggable: false, width: 200, height: 200 }),
        ...["what", "sure", "badge"].map((className) => element("span", { className })));
      tile.querySelector("img").addEventListener("error", () => tile.classList.add("lost"));
      this.#tiles.set(photo.id, tile);
    }
    if (tile.photo !== photo) {
      tile.photo = photo;
      const [, picture, what, sure, badge] = tile.children;
      const src = thumb(photo.event?.best ?? photo.id);
      if (picture.getAttribute("src") !== src) {
        picture.src = src;
      }
      tile.classList.toggle("event", Boolean(photo.event));
      what.textContent = named(photo);
      what.className = photo.label ? "what " + photo.by : "what";
      sure.textContent = doubt(photo);
      [badge.textContent, badge.title] = more(photo);
      const path = (photo.folder ? photo.folder + "/" : "") + photo.name;
      tile.title = [path, what.textContent, sure.textContent].join("\n");
    }
    tile.index = i;
    tile.setAttribute("aria-selected", this.#selection.has(photo.id));
    tile.setAttribute("aria-setsize", this.#list.total);
    tile.setAttribute("aria-posinset", i + 1);
    tile.classList.toggle("current", i === this.current);
    return tile;
  }

  // go makes another tile the current one and brings it into sight; with range,
  // everything since the last tile that was gone to without it is selected.
  async go(index, range = false) {
    const list = this.#list;
    index = Math.max(0, Math.min(index, list.total - 1));
    this.current = index;
    if (!range) {
      this.#anchor = index;
    }
    this.#reveal();
    this.#draw();
    await list.reach(index);
    if (range && list === this.#list) {
      const [from, to] = [Math.min(this.#anchor, index), Math.max(this.#anchor, index)];
      this.#selection.set(list.items.slice(from, to + 1).map((item) => item.id));
    }
    this.#draw();
    this.#send("current");
  }

  // reveal brings the current tile into sight.
  #reveal() {
    const top = Math.floor(this.current / this.#columns) * this.#row;
    if (top < this.#scroller.scrollTop) {
      this.#scroller.scrollTop = top;
    } else if (top + this.#row > this.#scroller.scrollTop + this.#scroller.clientHeight) {
      this.#scroller.scrollTop = top + this.#row - this.#scroller.clientHeight;
    }
  }

  // move goes by columns and rows.
  move(columns, rows, range) {
    return this.go(this.current + columns + rows * this.#columns, range);
  }

  page(pages, range) {
    return this.move(0, pages * Math.max(1, Math.floor(this.#scroller.clientHeight / this.#row)), range);
  }

  // end goes to the first photo, or the other way to the last.
  end(way, range) { return this.go(way < 0 ? 0 : Infinity, range); }

  #indexOf(target) {
    return target.closest(".tile")?.index ?? null;
  }

  #click(event) {
    const index = this.#indexOf(event.target);
    if (index === null) {
      return;
    }
    const photo = this.#list.items[index];
    if (event.shiftKey) {
      this.go(index, true);
    } else if (event.ctrlKey || event.metaKey || event.target.classList.contains("tick")) {
      this.go(index);
      this.#selection.toggle(photo.id);
    } else {
      const again = index === this.current;
      this.go(index);
      if (again && event.pointerType === "touch") {
        this.#send("open");
      }
    }
  }

  #drag(event) {
    if (this.#dragFrom === null || event.buttons !== 1) {
      return;
    }
    const index = this.#indexOf(event.target);
    if (index !== null && index !== this.current && (index !== this.#dragFrom || this.#selection.size > 0)) {
      this.#anchor = this.#dragFrom;
      this.go(index, true);
    }
  }
}

// more says for how many photos a tile stands, in short and in full.
function more({ event, copies }) {
  if (event) {
    const done = event.size - event.open;
    return [photos(event.size), "One event" + (done > 0 ? `, ${count(done)} of it decided` : "")];
  }
  return copies ? ["+" + copies, `The folder has this photo ${copies + 1} times`] : ["", ""];
}

// doubt says in a few words how sure the model is, or who decided.
function doubt(photo) {
  const [best, second] = photo.prediction;
  if (photo.by === "person" || aside(photo)) {
    return "by you";
  }
  if (photo.by === "detector") {
    return `by the detector, ${percent(photo.box.confidence)}`;
  }
  if (photo.label && !photo.rather) {
    return photo.by === "bulk" ? "accepted" : "from a folder or list";
  }
  if (photo.label) {
    return `rather ${photo.rather}` + (best.class === photo.rather ? `, ${percent(best.probability)}` : "");
  }
  if (!best) {
    return "not labelled";
  }
  if (photo.event?.classes.length > 1) {
    return "several classes?";
  }
  if (photo.unknown) {
    return `rather ${best.class}, ${percent(best.probability)}`;
  }
  return percent(best.probability) + (second && best.probability < 0.9 ? `, or ${second.class}` : "");
}
