// Naming is a field for a class name with completion: a combobox as the ARIA
// practices describe it. It sends "name" with the chosen class, and asks first whether a new
// name that is almost one of the others is meant to be that one.
import { composing, element, say } from "./dom.js";
import { nearest } from "./near.js";
import { question } from "./question.js";

export class Naming extends EventTarget {
  #input;
  #list;
  #names = () => [];
  #options = [];
  #active = -1;

  // names returns the classes, those used last first.
  constructor(form, names) {
    super();
    this.#names = names;
    const id = form.id + "-names";
    this.#input = element("input", {
      type: "text", placeholder: "Type a class", maxLength: 200, spellcheck: false, autocomplete: "off",
      role: "combobox", "aria-label": "Class",
      "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list",
    });
    this.#list = element("ul", { id, role: "listbox", "aria-label": "Classes", hidden: true });
    form.append(this.#input, this.#list);
    form.addEventListener("submit", (event) => event.preventDefault());
    this.#input.addEventListener("input", () => this.#complete());
    this.#input.addEventListener("blur", () => this.#close());
    this.#input.addEventListener("keydown", (event) => this.#key(event));
    this.#list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the field keeps the focus
      const option = event.target.closest("li");
      if (option) {
        this.#choose(option.dataset.name);
      }
    });
  }

  // start puts text into the field and the cursor behind it.
  start(text = "") {
    this.#input.focus();
    this.#input.value = text;
    this.#complete();
  }

  #close() {
    this.#list.hidden = true;
    this.#input.setAttribute("aria-expanded", "false");
    this.#input.removeAttribute("aria-activedescendant");
  }

  // complete lists the classes that begin with the text, then those that
  // contain it, and at the end the text itself as a new class.
  #complete() {
    const text = this.#input.value.trim();
    const low = text.toLowerCase();
    const names = this.#names();
    const rank = (name) => {
      const at = name.toLowerCase().indexOf(low);
      return name === text ? 0 : at === 0 ? 1 : at > 0 ? 2 : 3;
    };
    this.#options = names.filter((name) => rank(name) < 3).sort((a, b) => rank(a) - rank(b)).slice(0, 7);
    const isNew = text !== "" && !names.includes(text);
    if (isNew) {
      this.#options.push(text);
    }
    this.#list.replaceChildren(...this.#options.map((name, i) => {
      const option = element("li", { id: this.#list.id + i, role: "option", "aria-selected": "false" },
        ...(isNew && i === this.#options.length - 1 ? ["New class “", element("bdi", {}, name), "”"] : [name]));
      option.dataset.name = name;
      return option;
    }));
    this.#list.hidden = this.#options.length === 0;
    this.#input.setAttribute("aria-expanded", String(!this.#list.hidden));
    this.#mark(text && rank(this.#options[0] ?? "") < 2 ? 0 : isNew ? this.#options.length - 1 : -1);
  }

  #mark(i) {
    this.#active = i;
    Array.from(this.#list.children).forEach((option, at) => option.setAttribute("aria-selected", String(at === i)));
    if (i >= 0) {
      this.#input.setAttribute("aria-activedescendant", this.#list.id + i);
      this.#list.children[i].scrollIntoView({ block: "nearest" });
    } else {
      this.#input.removeAttribute("aria-activedescendant");
    }
  }

  #key(event) {
    if (composing(event) || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const n = this.#options.length;
    if (event.key === "Enter" && event.shiftKey) {
      this.#choose(this.#input.value.trim()); // exactly what was typed
    } else if (event.key === "Enter") {
      this.#choose(this.#options[this.#active] ?? this.#input.value.trim());
    } else if (event.key === "ArrowDown" && n > 0) {
      this.#mark((this.#active + 1) % n);
    } else if (event.key === "ArrowUp" && n > 0) {
      this.#mark((this.#active + n - 1) % n);
    } else if (event.key === "Tab" && !event.shiftKey && this.#completes()) {
      this.#input.value = this.#options[this.#active];
      this.#complete();
    } else if (event.key === "Escape") {
      this.#input.value = "";
      this.#close();
      this.dispatchEvent(new Event("leave"));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  // completes reports whether Tab writes a class that differs from what is typed.
  #completes() {
    const typed = this.#input.value;
    return this.#active >= 0 && typed.trim() !== "" && typed !== this.#options[this.#active];
  }

  async #choose(name) {
    if (!name) {
      say("Type the name of a class first.");
      return;
    }
    this.#input.value = "";
    this.#close();
    const near = nearest(name, this.#names());
    const meant = near ? await whichOf(near, name) : name;
    if (meant) {
      this.dispatchEvent(new CustomEvent("name", { detail: meant }));
    } else {
      this.start(name);
    }
  }
}

// whichOf returns a promise of the class that is meant: the one that there is or a new one
// with almost its name; "" for neither.
export async function whichOf(old, name) {
  const answer = await question("Which class is meant?",
    element("p", {}, `There is no class “${name}” yet, but “${old}”.`), old, { other: `New class “${name}”` });
  return { yes: old, other: name }[answer] ?? "";
}
