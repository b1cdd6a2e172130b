package archtest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// madeBy finds, in the command of a measured table, the scripts and the configurations that made it.
var madeBy = regexp.MustCompile(`\w+\.py|--config \w+`)

// TestTablesCanBeMade: what made a measured table of docs/results is in a row of scripts/tables.toml for that page, so
// `make tables` makes it again.
func TestTablesCanBeMade(t *testing.T) {
	rows := map[string]string{} // the commands of a page
	for _, row := range strings.Split(read(t, "scripts/tables.toml"), "[[table]]")[1:] {
		page := between(row, `page = "`, `"`)
		rows[page] += row
	}
	for _, page := range files(t, ".md") {
		page = filepath.ToSlash(page)
		if !strings.HasPrefix(page, "docs/results/") {
			continue
		}
		for _, s := range shownIn(read(t, page)) {
			m := source.FindStringSubmatch(s.above)
			if m == nil || m[1] != "measured" {
				continue
			}
			for _, made := range madeBy.FindAllString(m[2], -1) {
				if !regexp.MustCompile(regexp.QuoteMeta(made) + `\b`).MatchString(rows[page]) {
					t.Errorf("%s: no row of scripts/tables.toml for this page has %q", page, made)
				}
			}
		}
	}
}

// between returns what stands between two texts, "" if they are not there.
func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	inside, _, _ := strings.Cut(rest, after)
	return inside
}
