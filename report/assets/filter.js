(function () {
  "use strict";
  var byId = function (id) { return document.getElementById(id); };
  var box = byId("filters");
  if (!box) { return; }
  var cards = Array.from(document.querySelectorAll(".card"));
  var groups = Array.from(document.querySelectorAll(".group"));
  var inputs = ["by-class", "by-state", "by-path"].map(byId);
  function matches(card, name, state, path) {
    var d = card.dataset;
    if (name) { if (d.class !== name) { if (d.truth !== name) { return false; } } }
    if (state) { if (!d.state.split(" ").includes(state)) { return false; } }
    return d.path.toLowerCase().includes(path);
  }
  function apply() {
    var name = inputs[0].value, state = inputs[1].value, path = inputs[2].value.toLowerCase();
    var n = 0;
    cards.forEach(function (card) {
      card.hidden = !matches(card, name, state, path);
      n += card.hidden ? 0 : 1;
    });
    groups.forEach(function (g) { g.hidden = !g.querySelector(".card:not([hidden])"); });
    byId("shown").textContent = n + " of " + cards.length + " shown";
  }
  inputs.forEach(function (input) { input.addEventListener("input", apply); });
  box.hidden = false;
  apply();
}());
