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
  var size = 200, page = 0, pages = 1;
  function apply() {
    var name = inputs[0].value, state = inputs[1].value, path = inputs[2].value.toLowerCase();
    var n = 0;
    cards.forEach(function (card) {
      var at = matches(card, name, state, path) ? n++ : -1;
      card.hidden = page * size > at || at >= (page + 1) * size;
    });
    groups.forEach(function (g) { g.hidden = !g.querySelector(".card:not([hidden])"); });
    pages = Math.max(1, Math.ceil(n / size));
    byId("pages").hidden = pages === 1;
    byId("page-of").textContent = "page " + (page + 1) + " of " + pages;
    byId("previous").disabled = page === 0;
    byId("next").disabled = page === pages - 1;
    byId("shown").textContent = n + " of " + cards.length + (pages === 1 ? " shown" : " match");
  }
  function turn(by) {
    return function () {
      page = Math.min(pages - 1, Math.max(0, page + by));
      apply();
      byId("pictures").scrollIntoView();
    };
  }
  inputs.forEach(function (input) { input.addEventListener("input", function () { page = 0; apply(); }); });
  byId("previous").addEventListener("click", turn(-1));
  byId("next").addEventListener("click", turn(1));
  box.hidden = false;
  apply();
}());
