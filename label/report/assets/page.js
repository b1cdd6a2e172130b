(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));

  // A click on the head of a column sorts by it, a second one the other way
  // round. Rows without a number come last either way.
  function number(text) { return parseFloat(text.replace(/,/g, "")); }
  function compare(a, b, sign) {
    const x = number(a), y = number(b), known = Number.isFinite(x);
    if (known !== Number.isFinite(y)) { return known ? -1 : 1; }
    return sign * (known ? x - y : a.localeCompare(b));
  }
  function sortBy(table, head) {
    const at = head.cellIndex, body = table.tBodies[0], numeric = head.classList.contains("num");
    const up = head.getAttribute("aria-sort") !== "ascending";
    all("th[aria-sort]", table).forEach((th) => { th.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    Array.from(body.rows).sort((a, b) => {
      const x = a.cells[at].textContent.trim(), y = b.cells[at].textContent.trim();
      return numeric ? compare(x, y, up ? 1 : -1) : (up ? 1 : -1) * x.localeCompare(y);
    }).forEach((row) => { body.appendChild(row); });
  }
  all("table.sortable").forEach((table) => {
    all("thead th", table).forEach((head) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => { sortBy(table, head); });
      head.replaceChildren(button);
    });
  });

  const box = byId("filters");
  if (!box) { return; }
  const cards = all(".card"), groups = all(".group");
  const inputs = ["by-class", "by-state", "by-path"].map(byId);
  let only = null; // the truth, the label and the number of photos of a count that was clicked
  function matches(card, name, state, path) {
    const d = card.dataset;
    if (only) {
      if (d.truth !== only.truth) { return false; }
      if (only.predicted !== undefined) { if (d.class !== only.predicted) { return false; } }
    }
    if (name) { if (d.class !== name) { if (d.truth !== name) { return false; } } }
    if (state) { if (!d.state.split(" ").includes(state)) { return false; } }
    return d.path.toLowerCase().includes(path);
  }
  const size = 200;
  let page = 0, pages = 1, matching = cards;
  function apply() {
    const name = inputs[0].value, state = inputs[1].value, path = inputs[2].value.toLowerCase();
    matching = cards.filter((card) => matches(card, name, state, path));
    const shown = new Set(matching.slice(page * size, (page + 1) * size));
    cards.forEach((card) => { card.hidden = !shown.has(card); });
    groups.forEach((g) => { g.hidden = !g.querySelector(".card:not([hidden])"); });
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
    return () => {
      page = Math.min(pages - 1, Math.max(0, page + by));
      apply();
      toPictures();
    };
  }
  inputs.forEach((input) => { input.addEventListener("input", () => { page = 0; apply(); }); });
  byId("previous").addEventListener("click", turn(-1));
  byId("next").addEventListener("click", turn(1));
  byId("only").addEventListener("click", () => { only = null; page = 0; apply(); });
  all("a[data-truth]").forEach((link) => {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const d = link.dataset;
      const text = d.predicted === undefined ? d.truth : d.truth + " labelled " + d.predicted;
      only = {truth: d.truth, predicted: d.predicted, text};
      inputs.forEach((input) => { input.value = ""; });
      page = 0;
      apply();
      toPictures();
      byId("only").focus({preventScroll: true});
    });
  });

  // A photo opens large: the small picture at once, and the original in its
  // place if it is still where it was.
  const large = byId("large"), picture = new Image();
  let at = 0; // the place among those that match of the photo that is large
  large.insertBefore(picture, byId("large-text"));
  function show(i) {
    at = i;
    const card = matching[i], frame = card.querySelector(".frame"), small = frame.querySelector("img");
    byId("large-title").textContent = card.dataset.path;
    const text = card.cloneNode(true);
    text.removeChild(text.querySelector(".frame"));
    text.removeChild(text.querySelector(".path"));
    const details = document.createElement("p");
    details.textContent = card.title;
    byId("large-text").replaceChildren.apply(byId("large-text"), Array.from(text.childNodes).concat(details));
    picture.hidden = !small;
    if (small) {
      picture.src = small.src;
      picture.alt = small.alt;
    }
    if (frame.dataset.original) {
      const original = new Image();
      original.onload = () => {
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
  byId("pictures").addEventListener("click", (event) => {
    const frame = event.target.closest(".frame");
    if (frame) { show(matching.indexOf(frame.closest(".card"))); }
  });
  byId("large-previous").addEventListener("click", () => { step(-1); });
  byId("large-next").addEventListener("click", () => { step(1); });
  large.addEventListener("click", (event) => { if (event.target === large) { large.close(); } });
  large.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") { step(-1); }
    if (event.key === "ArrowRight") { step(1); }
  });

  box.hidden = false;
  // Few enough now to be laid out in full, so that links land where they should.
  byId("pictures").classList.add("paged");
  apply();
  // What was hidden just now may have moved the place that the address names.
  const target = location.hash ? byId(decodeURIComponent(location.hash.slice(1))) : null;
  if (target) { target.scrollIntoView({behavior: "instant"}); }
})();
