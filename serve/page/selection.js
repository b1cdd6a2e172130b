// The Selection is the set of photos that the next decision is about. It sends
// "change".
export class Selection extends EventTarget {
  #ids = new Set();

  get size() { return this.#ids.size; }
  get ids() { return [...this.#ids]; }
  has(id) { return this.#ids.has(id); }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }

  toggle(id) {
    if (!this.#ids.delete(id)) {
      this.#ids.add(id);
    }
    this.#changed();
  }

  add(ids) {
    ids.forEach((id) => this.#ids.add(id));
    this.#changed();
  }

  set(ids) {
    this.#ids = new Set(ids);
    this.#changed();
  }

  drop(ids) {
    ids.forEach((id) => this.#ids.delete(id));
    this.#changed();
  }

  clear() {
    if (this.#ids.size > 0) {
      this.set([]);
    }
  }
}
