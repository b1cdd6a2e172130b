// Words in the search box: Enter finds the photos that show them, if the network of the
// model can read. Part of a name narrows the view while it is typed, as always.

import * as api from "./api.js";

const found = 60;

export class Words {
  constructor(box) {
    this.box = box;
    this.readable = false;
  }

  // heard takes what a status says.
  heard(status) {
    this.readable = status.words;
    this.box.placeholder = this.readable ? "Part of a name; or words, and Enter" : "Part of a name";
  }

  // onEnter calls back with words. A form of several fields without a button does not
  // submit itself.
  onEnter(search) {
    this.box.addEventListener("keydown", (event) => {
      const words = this.box.value.trim();
      if (event.key === "Enter" && !event.isComposing && this.readable && words !== "") {
        search(words);
      }
    });
  }

  async find(words) {
    const answer = await api.search(words, found);
    return answer.images.map(({ image }) => image);
  }
}
