// Whether a button of the mouse, or a finger, is down.
let down = false;
const up = [];

addEventListener("pointerdown", () => { down = true; }, true);
for (const end of ["pointerup", "pointercancel", "blur"]) {
  addEventListener(end, () => setTimeout(() => { // after the click
    down = false;
    up.splice(0).forEach((done) => done());
  }), true);
}

// released returns a promise of the moment when none is. What is on the screen waits for it
// before it changes: a click is about what was under the pointer when it was pressed.
export function released() {
  return down ? new Promise((done) => { up.push(done); }) : Promise.resolve();
}
