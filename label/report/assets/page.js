(function () {
  "use strict";
  var byId = function (id) { return document.getElementById(id); };
  var all = function (selector, within) { return Array.from((within || document).querySelectorAll(selector)); };

  // A click on the head of a column sorts by it, a second one the other way
  // round. Rows without a number come last either way.
  function number(text) { return parseFloat(text.replace(/,/g, "")); }
  function compare(a, b, sign) {
    var x = number(a), y = number(b), known = Number.isFinite(x);
    if (known !== Number.isFinite(y)) { return known ? -1 : 1; }
    return sign * (known ? x - y : a.localeCompare(b));
  }
  function sortBy(table, head) {
    var at = head.cellIndex, body = table.tBodies[0], numeric = head.classList.contains("num");
    var up = head.getAttribute("aria-sort") !== "ascending";
    all("th[aria-sort]", table).forEach(function (th) { th.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    Array.from(body.rows).sort(function (a, b) {
      var x = a.cells[at].textContent.trim(), y = b.cells[at].textContent.trim();
      return numeric ? compare(x, y, up ? 1 : -1) : (up ? 1 : -1) * x.localeCompare(y);
    }).forEach(function (row) { body.appendChild(row); });
  }
  all("table.sortable").forEach(function (table) {
    all("thead th", table).forEach(function (head) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", function () { sortBy(table, head); });
      head.replaceChildren(button);
    });
  });

  var box = byId("filters");
  if (!box) { return; }
  var cards = all(".card"), groups = all(".group");
  var inputs = ["by-class", "by-state", "by-path"].map(byId);
  var only = null; // the truth, the label and the number of photos of a count that was clicked
  function matches(card, name, state, path) {
    var d = card.dataset;
    if (only) {
      if (d.truth !== only.truth) { return false; }
      if (only.predicted !== undefined) { if (d.class !== only.predicted) { return false; } }
    }
    if (name) { if (d.class !== name) { if (d.truth !== name) { return false; } } }
    if (state) { if (!d.state.split(" ").includes(state)) { return false; } }
    return d.path.toLowerCase().includes(path);
  }
  var size = 200, page = 0, pages = 1, matching = cards;
  function apply() {
    var name = inputs[0].value, state = inputs[1].value, path = inputs[2].value.toLowerCase();
    matching = cards.filter(function (card) { return matches(card, name, state, path); });
    var shown = new Set(matching.slice(page * size, (page + 1) * size));
    cards.forEach(function (card) { card.hidden = !shown.has(card); });
    groups.forEach(function (g) { g.hidden = !g.querySelector(".card:not([hidden])"); });
    pages = Math.max(1, Math.ceil(matching.length / size));
    byId("pages").hidden = pages === 1;
    byId("page-of").textContent = "page " + (page + 1) + " of " + pages;
    byId("previous").disabled = page === 0;
    byId("next").disabled = page === pages - 1;
    byId("only").hidden = !only;
    byId("only").textContent = only ? only.text + " ×" : "";
    byId("only").setAttribute("aria-label", only ? "Show all photos again, not only: " + only.text : "Show all photos");
    byId("shown").textContent = matching.length + " of " + cards.length + (pages === 1 ? " shown" : " match");
  }
  function toPictures() { byId("pictures").scrollIntoView({behavior: "instant"}); }
  function turn(by) {
    return function () {
      page = Math.min(pages - 1, Math.max(0, page + by));
      apply();
      toPictures();
    };
  }
  inputs.forEach(function (input) { input.addEventListener("input", function () { page = 0; apply(); }); });
  byId("previous").addEventListener("click", turn(-1));
  byId("next").addEventListener("click", turn(1));
  byId("only").addEventListener("click", function () { only = null; page = 0; apply(); });
  all("a[data-truth]").forEach(function (link) {
    link.addEventListener("click", function (event) {
      event.preventDefault();
      var d = link.dataset;
      only = {truth: d.truth, predicted: d.predicted, text: d.predicted === undefined ? d.truth : d.truth + " labelled " + d.predicted};
      inputs.forEach(function (input) { input.value = ""; });
      page = 0;
      apply();
      toPictures();
      byId("only").focus({preventScroll: true});
    });
  });

  // A photo opens large: the small picture at once, and the original in its
  // place if it is still where it was.
  var large = byId("large"), picture = new Image(), at = 0;
  large.insertBefore(picture, byId("large-text"));
  function show(i) {
    at = i;
    var card = matching[i], frame = card.querySelector(".frame"), small = frame.querySelector("img");
    byId("large-title").textContent = card.dataset.path;
    var text = card.cloneNode(true);
    text.removeChild(text.querySelector(".frame"));
    text.removeChild(text.querySelector(".path"));
    var details = document.createElement("p");
    details.textContent = card.title;
    byId("large-text").replaceChildren.apply(byId("large-text"), Array.from(text.childNodes).concat(details));
    picture.hidden = !small;
    if (small) {
      picture.src = small.src;
      picture.alt = small.alt;
    }
    if (frame.dataset.original) {
      var original = new Image();
      original.onload = function () {
        if (matching[at] === card) {
          picture.src = original.src;
          picture.alt = card.dataset.path;
          picture.hidden = false;
        }
      };
      original.src = frame.dataset.original;
    }
    byId("large-previous").disabled = i === 0;
    byId("large-next").disabled = i === matching.length - 1;
    if (!large.open) { large.showModal(); }
  }
  function step(by) {
    if (at + by >= 0) { if (matching.length > at + by) { show(at + by); } }
  }
  byId("pictures").addEventListener("click", function (event) {
    var frame = event.target.closest(".frame");
    if (frame) { show(matching.indexOf(frame.closest(".card"))); }
  });
  byId("large-previous").addEventListener("click", function () { step(-1); });
  byId("large-next").addEventListener("click", function () { step(1); });
  large.addEventListener("click", function (event) { if (event.target === large) { large.close(); } });
  large.addEventListener("keydown", function (event) {
    if (event.key === "ArrowLeft") { step(-1); }
    if (event.key === "ArrowRight") { step(1); }
  });

  box.hidden = false;
  byId("pictures").classList.add("paged"); // few enough now to be laid out in full, so that links land where they should
  apply();
  // What was hidden just now may have moved the place that the address names.
  var target = location.hash ? byId(decodeURIComponent(location.hash.slice(1))) : null;
  if (target) { target.scrollIntoView({behavior: "instant"}); }
}());
