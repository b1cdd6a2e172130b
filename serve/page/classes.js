// The list of classes: choose, rename, merge.
import * as api from "./api.js";
import { byId, count, element, percent, photos } from "./dom.js";
import { states } from "./filter.js";
import { whichOf } from "./naming.js";
import { nearest } from "./near.js";
import { question } from "./question.js";

const onlyDetected = (one) => one.detected > 0 && one.learned + seen(one) - one.detected === 0;

// seen counts the photos that a class shows.
const seen = (one) => one.labelled + one.accepted + (one.listed ?? 0) + one.predicted + (one.detected ?? 0);

export class Classes extends EventTarget {
  #all = [];
  #account = null;
  #bySize = false;
  current = null;
  aside = null; // what is shown instead of a class: photos that were set aside so

  constructor() {
    super();
    byId("class-choice").addEventListener("change", (event) => {
      const { value, dataset } = event.target.selectedOptions[0];
      this.choose(value, dataset.aside);
    });
    byId("class-order").addEventListener("click", (event) => {
      this.#bySize = !this.#bySize;
      event.target.setAttribute("aria-pressed", String(this.#bySize));
      this.#write();
    });
  }

  // names are the classes of the model, or of photos; what only a detector says is none.
  get names() { return this.#all.filter((one) => !onlyDetected(one)).map((one) => one.name); }

  // heard takes in an account.
  heard(account) {
    this.#account = account;
  }

  // there reports whether what is shown has not gone.
  get there() { return this.aside === null || this.#asides().includes(this.aside); }

  // told says what is known of a class: how many of its labels are right, and what it is taken for; "" for nothing.
  told(name) {
    const one = this.#account?.classes.find((other) => other.class === name);
    const right = one?.expected == null ? ""
      : `about ${percent(one.expected)} of ${photos(one.labelled)} by the model are right`;
    const taken = one?.taken_for ? `taken for ${one.taken_for} (${one.times} of ${one.of} left out)` : "";
    const said = [right, taken].filter(Boolean).join("; ");
    return said && said[0].toUpperCase() + said.slice(1) + ".";
  }

  // takenFor returns what a class is taken for; undefined for nothing.
  takenFor(name) { return this.#account?.classes.find((other) => other.class === name)?.taken_for ?? undefined; }

  #asides() {
    return Object.keys(states).filter((state) => this.#aside(state) > 0);
  }

  // aside counts the photos that are set aside so, or the files that are none.
  #aside(state) {
    return state === "unreadable" ? this.#account?.failed : this.#account?.set_aside[state];
  }

  async load() {
    this.#all = (await api.classes()).classes;
    if (!this.there) {
      this.aside = null;
    }
    if (!this.aside && !this.#all.some((one) => one.name === this.current)) {
      this.current = this.#sorted()[0]?.name ?? null;
    }
    this.#write();
  }

  #sorted() {
    const byName = (a, b) => a.name.localeCompare(b.name, "en", { numeric: true });
    return this.#all.toSorted((a, b) => (this.#bySize ? seen(b) - seen(a) : 0) || byName(a, b));
  }

  choose(name, aside = null) {
    this.current = aside ? null : name;
    this.aside = aside;
    this.#write();
    this.dispatchEvent(new Event("choose"));
  }

  #write() {
    const focused = document.activeElement?.closest("#class-list button")?.dataset.name;
    const asides = this.#asides().map((state) => ({ state, name: states[state], n: this.#aside(state) }));
    byId("class-choice").replaceChildren(
      ...this.#sorted().map(({ name }) =>
        element("option", { value: name, selected: !this.aside && name === this.current }, name)),
      ...asides.map(({ state, name, n }) => {
        const option = element("option", { value: name, selected: state === this.aside }, `${name} (${count(n)})`);
        option.dataset.aside = state;
        return option;
      }));
    byId("class-list").replaceChildren(
      ...this.#sorted().map((one) => this.#entry(one.name, seen(one), this.#title(one), null)),
      ...asides.map(({ state, name, n }) => this.#entry(name, n, "Set aside", state)));
    if (focused) {
      Array.from(byId("class-list").querySelectorAll("button")).find((b) => b.dataset.name === focused)?.focus();
    }
  }

  #title(one) {
    const listed = one.listed ? `${count(one.listed)} by a folder or list, ` : "";
    const detected = one.detected ? `, ${count(one.detected)} by the detector` : "";
    return `${count(one.labelled)} decided, ${count(one.accepted)} accepted, ${listed}`
      + `${count(one.predicted)} predicted${detected}. ${this.told(one.name)}`.trim();
  }

  #entry(name, n, title, aside) {
    const here = aside ? aside === this.aside : !this.aside && name === this.current;
    const button = element("button",
      { type: "button", className: aside ? "aside" : "", "aria-current": String(here) },
      element("span", { title: name }, name), element("small", { title }, count(n)));
    button.dataset.name = name;
    button.addEventListener("click", () => this.choose(name, aside));
    return element("li", {}, button);
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
