// Changes are asked of the server one after the other, in the order of the keys, however late it
// answers.
const patience = 300; // milliseconds after which people see that a change takes long

export class Changes {
  // slow is called with whether a change takes long.
  constructor(slow = () => {}) {
    this.#slow = slow;
  }

  #slow;
  #last = Promise.resolve();
  #failed = 0;

  waiting = 0;

  // ask runs a change after all before it, and returns a promise of its answer. One that takes
  // back the change before it is refused if that has failed since.
  ask(run, { back = false } = {}) {
    const failed = this.#failed;
    this.waiting++;
    const late = setTimeout(() => this.#say(true), patience);
    const answer = this.#last.then(() => {
      if (back && failed !== this.#failed) {
        throw new Error("Nothing was taken back: the change before it was refused.");
      }
      return run();
    }).finally(() => {
      this.waiting--;
      clearTimeout(late);
      this.#say(false);
    });
    this.#last = answer.catch(() => { this.#failed++; });
    return answer;
  }

  #say(late) {
    this.#slow(late && this.waiting > 0);
  }

  // idle returns a promise of the moment when every change is answered.
  async idle() {
    while (this.waiting > 0) {
      await this.#last;
    }
  }
}
