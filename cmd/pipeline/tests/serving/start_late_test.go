package serving

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestClicksOnTheStartPage: clicks that come faster than their answers each do what was under them, one after the
// other; and an answer takes neither the focus from a button nor the button from under a click.
func TestClicksOnTheStartPage(t *testing.T) {
	l := commandtest.New(t)
	var dirs []string
	for _, name := range []string{"ash", "birch", "cedar", "elm"} {
		dirs = append(dirs, fmt.Sprintf("%q", l.Path(name+".project")))
	}
	l.Write(l.Path("home", ".config", "pipeline", "recent.json"), []byte(`{"projects": [`+strings.Join(dirs, ",")+`]}`))
	s := start(l)
	page := testenv.Open(t, s.address)
	page.Wait("document.querySelectorAll('#recent-list li').length === 4")
	page.Eval(`(() => {
		const real = fetch, held = [];
		window.answers = () => held.splice(0).forEach((go) => go());
		window.hold = true;
		window.most = 0;
		let now = 0;
		window.fetch = async (path, how) => {
			if (how?.method !== "POST" || !hold) {
				return real(path, how);
			}
			most = Math.max(most, ++now);
			await new Promise((go) => held.push(go));
			now--;
			return real(path, how);
		};
	})()`, nil)
	for _, row := range []string{"1", "3", "2"} {
		page.Click("#recent-list li:nth-child(" + row + ") button:last-child")
	}
	page.Eval("hold = false; answers()", nil)
	page.Wait("document.querySelector('#recent-list').textContent.startsWith('elm') && " +
		"document.querySelectorAll('#recent-list li').length === 1")
	var most int
	if page.Eval("most", &most); most != 1 {
		t.Errorf("%d requests were under way at once", most)
	}

	page.Eval(`window.button = document.querySelector("#recent-list button:last-child");
		button.focus();
		button.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true}));
		window.asked = new Promise((done) => {
			const real = fetch;
			window.fetch = async (...how) => {
				const answer = await real(...how);
				answer.clone().json().then(() => setTimeout(done));
				return answer;
			};
		});
		void dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));`, nil)
	page.Eval("asked", nil)
	var kept bool
	if page.Eval("button.isConnected && document.activeElement === button", &kept); !kept {
		t.Error("an answer replaces the button that has the focus and is being clicked")
	}
	page.Eval(`button.dispatchEvent(new PointerEvent("pointerup", {bubbles: true})); button.click()`, nil)
	page.Wait("document.querySelectorAll('#recent-list li').length === 0")
	page.Click("#stop")
	page.Wait("document.getElementById('ask').open")
	page.Press("Enter")
	page.Wait("document.getElementById('main').textContent.includes('has ended')")
	s.ends()
}
