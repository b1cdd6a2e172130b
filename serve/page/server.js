// What is asked of the server itself: to look into the folder again, and to end.
import * as api from "./api.js";
import { byId, element, photos, say } from "./dom.js";

// lookAgain returns the status after the look.
export async function lookAgain() {
  const now = await api.look();
  const { found, scanning } = now.images;
  say(scanning ? `There are ${photos(found)} in the folder; what is new is read.` : "Nothing is new in the folder.");
  return now;
}

// quit ends the server, and leaves no page that asks it for something.
export async function quit() {
  await api.quit();
  api.hangUp();
  document.body.replaceChildren(element("p", { className: "card", role: "status" },
    "The program has ended. You can close this window."), byId("said"));
}
