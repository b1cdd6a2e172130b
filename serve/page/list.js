// A PhotoList is a view of up to 100 000 photos, fetched page by page as far as
// somebody looks. It sends "change" when its items change.
import * as api from "./api.js";

const pageSize = 200;
const largest = 500; // that the server sends at once

export class PhotoList extends EventTarget {
  #fetch;
  #next = null;
  #ended = false;
  #turn = 0; // grows with every reload; answers to earlier requests are dropped
  #loading = null;

  items = [];
  total = 0;
  revision = 0;
  untimed = 0;
  loaded = false;

  // fetch(cursor, limit) answers {images, total, untimed, next, revision}.
  constructor(fetch) {
    super();
    this.#fetch = fetch;
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }

  // reach fetches pages until there is an item of this index, or no more.
  async reach(index) {
    while (index >= this.items.length && !this.#ended) {
      const size = index - this.items.length > pageSize ? largest : pageSize;
      this.#loading ??= this.#more(this.#turn, size).finally(() => { this.#loading = null; });
      await this.#loading;
    }
  }

  async #more(turn, limit) {
    const page = await this.#fetch(this.#next, limit);
    if (turn !== this.#turn) {
      return;
    }
    const have = new Set(this.items.map((item) => item.id));
    this.items.push(...page.images.filter((item) => !have.has(item.id)));
    this.#take(page);
    this.#changed();
  }

  #take(page) {
    this.#next = page.next;
    this.#ended = !page.next;
    this.revision = page.revision;
    this.untimed = page.untimed;
    this.loaded = true;
    this.total = this.#ended ? this.items.length : Math.max(page.total, this.items.length);
  }

  // reload fetches the view again. The first seen() items keep their place, so
  // that nothing moves under the eyes of a person; what follows them is in the
  // new order. What is seen is asked when the answer is there: somebody may have
  // scrolled since.
  async reload(seen) {
    const turn = ++this.#turn;
    this.#loading = null;
    const page = await this.#fetch(null, pageSize);
    if (turn !== this.#turn) {
      return;
    }
    const fresh = new Map(page.images.map((item) => [item.id, item]));
    const kept = this.items.slice(0, seen()).map((item) => fresh.get(item.id) ?? item);
    const ids = new Set(kept.map((item) => item.id));
    this.items = kept.concat(page.images.filter((item) => !ids.has(item.id)));
    this.#take(page);
    this.#changed();
  }

  // remove takes photos out, and returns them; an answer that is on its way may still have
  // them, and is dropped.
  remove(ids) {
    this.#turn++;
    const leave = new Set(ids);
    const gone = this.items.filter((item) => leave.has(item.id));
    this.items = this.items.filter((item) => !leave.has(item.id));
    this.total -= gone.length;
    if (gone.length > 0) {
      this.#changed();
    }
    return gone;
  }

  // restore puts photos that were removed back, at an index.
  restore(photos, index) {
    const have = new Set(this.items.map((item) => item.id));
    const back = photos.filter(({ id }) => !have.has(id));
    this.items.splice(index, 0, ...back);
    this.total += back.length;
    if (back.length > 0) {
      this.#changed();
    }
  }

  // lead puts an item first, which may be on a later page.
  lead(item) {
    const have = this.items.length;
    this.items = [item, ...this.items.filter(({ id }) => id !== item.id)];
    this.total += this.#ended ? this.items.length - have : 0;
  }

  // renew replaces an item by a newer version of it.
  renew(image) {
    const at = this.items.findIndex((item) => item.id === image.id);
    if (at >= 0) {
      this.items[at] = image;
      this.#changed();
    }
  }
}

// byIds is the source of a list of photos that are known by their ids.
export const byIds = (ids) => async (cursor, limit) => {
  const from = cursor ?? 0;
  const images = await Promise.all(ids.slice(from, from + limit).map(api.image));
  return { images, total: ids.length, untimed: 0, next: from + limit < ids.length ? from + limit : null, revision: 0 };
};

// fixed is the source of a list that is known as a whole.
export const fixed = (images) => async () => ({ images, total: images.length, untimed: 0, next: null, revision: 0 });
