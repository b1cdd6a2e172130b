// The dialog of a photo that shows several things: a name for each.
import { byId, element } from "./dom.js";
import { Naming } from "./naming.js";

const least = 2;

export class Several {
  #dialog = byId("several-things");
  #input;
  #chosen = [];
  #answered = () => {};

  // names returns the classes, those used last first.
  constructor(names) {
    const form = byId("several-naming");
    new Naming(form, names).addEventListener("name", (event) => this.#write([...this.#chosen, event.detail]));
    this.#input = form.querySelector("input");
    this.#dialog.addEventListener("keydown", (event) => this.#key(event), true); // before the field
    this.#dialog.addEventListener("close", () => this.#end());
    byId("several-yes").addEventListener("click", () => this.#close("yes"));
    for (const id of ["several-no", "several-close"]) {
      byId(id).addEventListener("click", () => this.#close(""));
    }
  }

  // ask returns a promise of two names or more, at first some, or of null.
  ask(some) {
    this.#write(some);
    this.#input.value = "";
    this.#dialog.returnValue = "";
    this.#dialog.showModal();
    this.#input.focus();
    return new Promise((done) => { this.#answered = done; });
  }

  // close answers at once: the event of a dialog that closes comes after the next key may have.
  #close(answer) {
    this.#dialog.close(answer);
    this.#end();
  }

  #end() {
    if (!this.#dialog.open) {
      this.#answered(this.#dialog.returnValue === "yes" ? this.#chosen : null);
    }
  }

  // write shows the names that were given, each a button that takes it away.
  #write(names) {
    this.#chosen = [...new Set(names)];
    byId("several-names").replaceChildren(...this.#chosen.map((name) => {
      const button = element("button", { type: "button", "aria-label": "Remove " + name }, name + " ×");
      button.addEventListener("click", () => {
        this.#write(this.#chosen.filter((other) => other !== name));
        this.#input.focus();
      });
      return element("li", {}, button);
    }));
    byId("several-yes").disabled = this.#chosen.length < least;
  }

  // key ends the dialog where the field has nothing to take or to empty.
  #key(event) {
    if (event.isComposing || event.target !== this.#input || this.#input.value !== "") {
      return;
    }
    if (event.key === "Enter" && this.#chosen.length >= least) {
      this.#close("yes");
    } else if (event.key === "Escape") {
      this.#close("");
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
