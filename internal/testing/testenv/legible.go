package testenv

// cut lists what nobody can read or reach in the page as it is: text that does not fit its
// box, which neither scrolls nor has the text as its title, and texts and controls outside of the window
// with nothing around them that scrolls there. In an open dialog only that counts.
const cut = `(() => {
	const root = Array.from(document.querySelectorAll("dialog[open]")).at(-1) ?? document.body;
	const scrolls = (e, way) => /auto|scroll/.test(getComputedStyle(e)["overflow" + way]);
	const around = (e) => {
		const all = [];
		for (let a = e.parentElement; a; a = a.parentElement) all.push(a);
		return all;
	};
	const reachable = (e, way) => around(e).some((a) => scrolls(a, way)) ||
		(way === "Y" ? document.documentElement.scrollHeight > innerHeight : false);
	const text = (e) => e.textContent.trim().replace(/\s+/g, " ");
	const out = [];
	for (const e of root.querySelectorAll("*")) {
		const own = Array.from(e.childNodes).some((n) => n.nodeType === 3 && n.data.trim());
		const style = getComputedStyle(e);
		const box = e.getBoundingClientRect();
		if (!(own || e.matches("button, input, select, a, textarea")) || !e.checkVisibility() || box.width <= 1 ||
			around(e).concat(e).some((a) => getComputedStyle(a).clipPath !== "none") ||
			e.closest("svg, option, .skip:not(:focus)")) {
			continue;
		}
		const titled = e.closest("[title]")?.title.includes(text(e));
		const clipped = around(e).concat(e).some((a) => /hidden|clip/.test(getComputedStyle(a).overflowX) &&
			(a === e ? e.scrollWidth > e.clientWidth + 1 : box.right > a.getBoundingClientRect().right + 1));
		if (own && clipped && !titled && !e.matches("select")) {
			out.push("cut off: " + (e.id || e.className || e.tagName) + ": " + text(e));
		} else if ((box.right > innerWidth + 1 || box.left < -1) && !reachable(e, "X")) {
			out.push("outside the window: " + (e.id || e.tagName) + ": " + text(e));
		} else if ((box.bottom > innerHeight + 1 || box.top < -1) && !reachable(e, "Y")) {
			out.push("below the window: " + (e.id || e.tagName) + ": " + text(e));
		}
	}
	return out;
})()`

// Cut returns what nobody can read or reach in the page as it is: text that is cut off without a
// way to read it, and texts and controls that no scrolling brings into the window.
func (p *Page) Cut() (all []string) {
	p.tb.Helper()
	p.Eval(cut, &all)
	return all
}
