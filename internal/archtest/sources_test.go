package archtest

import (
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unkept is how many tables and figures of measurements in the pages of results have no file that
// their numbers come from. A new one keeps its file in docs/results/data; this number only falls.
const unkept = 4

var (
	// A source stands on the line above a table or figure.
	source = regexp.MustCompile(`^<!-- (from|measured): (.+) -->$`)
	// A measured source has the day and the command, or says that none was kept.
	measuredOn = regexp.MustCompile(`^20\d\d-\d\d-\d\d, .{5,}$`)
	ruleRow    = regexp.MustCompile(`^\|[-| :]+\|$`)
	// A number may have a sign (ASCII or typographic) and an exponent; 10 450 is one number.
	numeral  = regexp.MustCompile(`[+−-]?\d+(?:\.\d+)?(?:e[-+−]?\d+)?`)
	thousand = regexp.MustCompile(`(\d) (\d{3})\b`)
	fraction = regexp.MustCompile(`\d\.\d`)
)

// A printed value is a number and the last digit that is shown of it.
type printedValue struct{ value, digit float64 }

func numbersIn(text string) (values []printedValue) {
	text = thousand.ReplaceAllString(text, "$1$2")
	for _, s := range numeral.FindAllString(text, -1) {
		s = strings.ReplaceAll(s, "−", "-")
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			continue
		}
		mantissa, exponent, _ := strings.Cut(s, "e")
		power, _ := strconv.Atoi(exponent)
		_, decimals, _ := strings.Cut(mantissa, ".")
		values = append(values, printedValue{v, math.Pow10(power - len(decimals))})
	}
	return values
}

// among reports whether a value of the line, or a hundred times it, rounds to v.
func (v printedValue) among(line []printedValue) bool {
	return slices.ContainsFunc(line, func(w printedValue) bool {
		for _, x := range []float64{w.value, 100 * w.value} {
			if math.Abs(x-v.value) <= v.digit/2*(1+1e-6) {
				return true
			}
		}
		return false
	})
}

// standIn reports whether each value is in one and the same line of a file, or in one line of each of
// several files.
func standIn(values []printedValue, files [][][]printedValue) bool {
	if len(values) == 0 {
		return true
	}
	if len(files) == 0 {
		return false
	}
	for _, line := range append([][]printedValue{nil}, files[0]...) {
		left := slices.DeleteFunc(slices.Clone(values), func(v printedValue) bool { return v.among(line) })
		if (line == nil || len(left) < len(values)) && standIn(left, files[1:]) {
			return true
		}
	}
	return false
}

// A shown thing is a table or a figure of a page: the line above it, and the cells of its rows that
// may hold numbers.
type shown struct {
	above, first string
	rows         []string
}

// shownIn returns the tables with decimal numbers and the figures of a page.
func shownIn(text string) (all []shown) {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		l = strings.TrimSpace(l)
		switch {
		case strings.HasPrefix(l, "!["):
			above := ""
			for j := i - 1; j >= 0 && (above == "" || strings.HasPrefix(above, "![")); j-- {
				above = strings.TrimSpace(lines[j])
			}
			all = append(all, shown{above: above, first: l})
		case ruleRow.MatchString(l) && i > 0:
			s := shown{first: strings.TrimSpace(lines[i-1])}
			if i > 1 {
				s.above = strings.TrimSpace(lines[i-2])
			}
			for _, row := range lines[i+1:] {
				if row = strings.TrimSpace(row); !strings.HasPrefix(row, "|") {
					break
				}
				_, cells, _ := strings.Cut(strings.Trim(row, "|"), "|") // the first names the row
				s.rows = append(s.rows, cells)
			}
			if fraction.MatchString(strings.Join(s.rows, "\n")) {
				all = append(all, s)
			}
		}
	}
	return all
}

// TestFiguresHaveSources: on the pages of results, the line above each table of measurements and each
// figure says where it comes from,
//
//	<!-- from: data/NAME.csv -->              a file of results next to the page, or of a paper's figures
//	<!-- measured: 2026-11-26, COMMAND -->    no file was kept
//
// Where there are files, one line of each has all numbers of a row, to the digits printed.
func TestFiguresHaveSources(t *testing.T) {
	traced, unkeptNow := 0, 0
	for _, page := range files(t, ".md") {
		if filepath.ToSlash(filepath.Dir(page)) != "docs/results" {
			continue
		}
		for _, s := range shownIn(read(t, page)) {
			m := source.FindStringSubmatch(s.above)
			switch {
			case m == nil:
				t.Errorf("%s: nothing above %.60q says where it comes from: <!-- from: FILE --> or "+
					"<!-- measured: DAY, COMMAND -->", page, s.first)
			case m[1] == "measured":
				if unkeptNow++; !measuredOn.MatchString(m[2]) {
					t.Errorf("%s: %q is not a day and a command", page, m[2])
				}
			default:
				traced++
				var lines [][][]printedValue
				for _, name := range strings.Split(m[2], ", ") {
					if strings.HasSuffix(name, ".md") && s.rows != nil {
						t.Errorf("%s: %q is from %s; only figures are drawn from a page's table", page, s.first, name)
					}
					var file [][]printedValue
					for _, l := range strings.Split(read(t, filepath.Join(filepath.Dir(page), name)), "\n") {
						file = append(file, numbersIn(l))
					}
					lines = append(lines, file)
				}
				for _, row := range s.rows {
					if !standIn(numbersIn(row), lines) {
						t.Errorf("%s: no line of %s has the numbers of %q", page, m[2], row)
					}
				}
			}
		}
	}
	t.Logf("%d tables and figures are traced to files, of %d none was kept", traced, unkeptNow)
	if unkeptNow != unkept {
		t.Errorf("%d tables and figures come from no file, %d is what the constant unkept says; it only falls",
			unkeptNow, unkept)
	}
}

// TestNumbersAreCompared: stale figures are found, at the precision of the page.
func TestNumbersAreCompared(t *testing.T) {
	file := [][]printedValue{numbersIn("gaussians,4,4.87,0.6928,-0.001"), numbersIn("raw,1,11.31,62.02")}
	other := [][]printedValue{numbersIn("paper,71.9,10450")}
	for row, want := range map[string]bool{
		"4.9 | 69.3":        true,
		"4.9 | 69.28":       true,
		"4.8 | 69.3":        false,
		"4.9 | 62.0":        false, // of two lines
		"69.3 | 71.9":       true,  // of two files
		"−0.001 | 10 450":   true,
		"+0.001":            false,
		"62.0 | – | refuse": true,
		"":                  true,
	} {
		if standIn(numbersIn(row), [][][]printedValue{file, other}) != want {
			t.Errorf("%q: want %v", row, want)
		}
	}
	page := "text\n<!-- from: a -->\n| a | b |\n|---|---|\n| x 1.5 | 2.5 |\n\n| words | |\n|---|---|\n| a | 3 |\n\n" +
		"<!-- from: b -->\n![two](one.png)\n![figures](two.png)\n"
	all := shownIn(page)
	if len(all) != 3 || all[0].above != "<!-- from: a -->" || strings.TrimSpace(all[0].rows[0]) != "2.5" ||
		all[1].above != "<!-- from: b -->" || all[2].above != all[1].above {
		t.Errorf("shown: %+v", all)
	}
}
