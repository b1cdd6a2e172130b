// The networks that a new model may use.
import { ask } from "./api.js";
import { byId, element, say } from "./dom.js";

let all = [];

// chosenNetwork returns the one that is chosen, undefined before they are listed.
export const chosenNetwork = () =>
  all.find(({ name }) => name === byId("networks").querySelector("input:checked")?.value);

// listNetworks shows them, those that are here first. One that was chosen stays so.
export async function listNetworks() {
  const before = chosenNetwork()?.name;
  let missing;
  try {
    ({ networks: all, missing } = await ask("GET", "networks"));
  } catch (error) {
    say(error.message, true);
    return;
  }
  const first = all.find(({ name }) => name === before) ?? all.find(({ here }) => here);
  const here = all.filter((n) => n.here);
  const others = all.filter((n) => !n.here);
  const more = element("details", { open: byId("networks").querySelector("details")?.open ?? false },
    element("summary", {}, "Networks that can be obtained"), ...others.map((n) => row(n, false)));
  byId("networks").replaceChildren(...here.map((n) => row(n, n === first)), more);
  byId("missing").hidden = missing === null;
  byId("missing").textContent = missing === null ? "" : "No network runs on this machine yet: " + missing;
  byId("setup").hidden = missing === null;
  byId("networks").dispatchEvent(new Event("listed"));
}

function row(network, checked) {
  const facts = [network.about];
  if (network.bytes > 0) {
    facts.push(Math.round(network.bytes / 1e6) + " MB");
  }
  if (network.licence) {
    facts.push("licence " + network.licence);
  }
  if (network.texts) {
    facts.push("reads words");
  }
  if (network.untried) {
    facts.push("not run by the makers of this program");
  }
  const text = element("span", {}, network.name, element("small", {}, facts.join(" · ")));
  if (network.here) {
    return element("label", {},
      element("input", { type: "radio", name: "network", value: network.name, checked }), text);
  }
  const get = element("button", { type: "button", "aria-label": "Get " + network.name }, "Get");
  get.addEventListener("click", () =>
    byId("networks").dispatchEvent(new CustomEvent("wanted", { detail: network.name })));
  return element("div", { className: "choice" }, text, get);
}
