// The list of classes: choose, rename, merge.
import * as api from "./api.js";
import { byId, count, element } from "./dom.js";
import { whichOf } from "./naming.js";
import { nearest } from "./near.js";
import { question } from "./question.js";

const onlyDetected = (one) => one.detected > 0 && one.learned + one.labelled + one.accepted + one.predicted === 0;

export class Classes extends EventTarget {
  #all = [];
  current = null;

  constructor() {
    super();
    byId("class-choice").addEventListener("change", (event) => this.choose(event.target.value));
  }

  // names are the classes of the model, or of photos; what only a detector says is none.
  get names() { return this.#all.filter((one) => !onlyDetected(one)).map((one) => one.name); }

  async load() {
    this.#all = (await api.classes()).classes;
    if (!this.#all.some((one) => one.name === this.current)) {
      this.current = this.#all[0]?.name ?? null;
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
      const n = one.labelled + one.accepted + one.predicted + (one.detected ?? 0);
      const title = `${count(one.labelled)} decided, ${count(one.accepted)} accepted, `
        + `${count(one.predicted)} predicted` + (one.detected ? `, ${count(one.detected)} by the detector` : "");
      const button = element("button", { type: "button", "aria-current": String(one.name === this.current) },
        element("span", { title: one.name }, one.name), element("small", { title }, count(n)));
      button.dataset.name = one.name;
      button.addEventListener("click", () => this.choose(one.name));
      return element("li", {}, button);
    }));
    if (focused) {
      Array.from(byId("class-list").querySelectorAll("button")).find((b) => b.dataset.name === focused)?.focus();
    }
  }

  // rename asks for another name of a class and returns the decision, or null. A name that
  // another class has makes the two one, so it asks that.
  async rename(from) {
    const id = "new-name";
    const input = element("input", { type: "text", value: from, maxLength: 200, required: true, id });
    const label = element("label", { for: id }, "New name of “", element("bdi", {}, from), "” ");
    const answer = question("Rename", element("p", {}, label, input), "Rename");
    input.select();
    const yes = await answer;
    const typed = input.value.trim();
    if (!yes || !typed || typed === from) {
      return null;
    }
    const others = this.names.filter((name) => name !== from);
    const near = nearest(typed, others);
    const to = near ? await whichOf(near, typed) : typed;
    if (others.includes(to)) {
      return this.merge(from, to);
    }
    return to ? { do: "rename", class: from, to } : null;
  }

  // merge asks for the class that another one goes into, of which into is the first answer,
  // and returns the decision, or null.
  async merge(from, into = "") {
    const others = this.names.filter((name) => name !== from);
    const select = element("select", { id: "into", required: true },
      element("option", { value: "", selected: true }, "Choose a class"),
      ...others.map((name) => element("option", { value: name, selected: name === into }, name)));
    const label = element("label", { for: "into" }, "All photos of “", element("bdi", {}, from), "” become ");
    const yes = await question("Merge", element("p", {}, label, select), "Merge");
    return yes && select.value ? { do: "merge", class: from, to: select.value } : null;
  }
}
