// The list of classes: choose, rename, merge.
import * as api from "./api.js";
import { byId, count, element } from "./dom.js";
import { question } from "./question.js";

export class Classes extends EventTarget {
  #all = [];
  current = null;

  constructor() {
    super();
    byId("class-choice").addEventListener("change", (event) => this.choose(event.target.value));
  }

  get names() { return this.#all.map((one) => one.name); }

  async load() {
    this.#all = (await api.classes()).classes;
    if (!this.names.includes(this.current)) {
      this.current = this.names[0] ?? null;
    }
    this.#write();
  }

  choose(name) {
    this.current = name;
    this.#write();
    this.dispatchEvent(new Event("choose"));
  }

  #write() {
    const focused = document.activeElement?.closest("#class-list button")?.dataset.name;
    byId("class-choice").replaceChildren(...this.#all.map(({ name }) =>
      element("option", { value: name, selected: name === this.current }, name)));
    byId("class-list").replaceChildren(...this.#all.map((one) => {
      const n = one.labelled + one.accepted + one.predicted;
      const title = `${count(one.labelled)} decided, ${count(one.accepted)} accepted, `
        + `${count(one.predicted)} predicted`;
      const button = element("button", { type: "button", "aria-current": String(one.name === this.current) },
        element("span", {}, one.name), element("small", { title }, count(n)));
      button.dataset.name = one.name;
      button.addEventListener("click", () => this.choose(one.name));
      return element("li", {}, button);
    }));
    if (focused) {
      Array.from(byId("class-list").querySelectorAll("button")).find((b) => b.dataset.name === focused)?.focus();
    }
  }

  // rename asks for another name and returns the decision, or null.
  async rename() {
    const id = "new-name";
    const input = element("input", { type: "text", value: this.current, maxLength: 200, required: true, id });
    const label = element("label", { for: id }, "New name of “", element("bdi", {}, this.current), "” ");
    const yes = await question("Rename", element("p", {}, label, input), "Rename");
    const to = input.value.trim();
    if (!yes || !to || to === this.current) {
      return null;
    }
    const decision = { do: this.names.includes(to) ? "merge" : "rename", class: this.current, to };
    this.current = to;
    return decision;
  }

  // merge asks for the class to go into and returns the decision, or null.
  async merge() {
    const others = this.names.filter((name) => name !== this.current);
    const select = element("select", { id: "into" }, ...others.map((name) => element("option", { value: name }, name)));
    const label = element("label", { for: "into" }, "All photos of “", element("bdi", {}, this.current), "” become ");
    const yes = await question("Merge", element("p", {}, label, select), "Merge");
    if (!yes || !select.value) {
      return null;
    }
    const decision = { do: "merge", class: this.current, to: select.value };
    this.current = select.value;
    return decision;
  }
}
