package dataset

import "testing"

const (
	composed   = "caf\u00e9"  // as Windows and Linux type it
	decomposed = "cafe\u0301" // as macOS stores it
)

func TestUnicodeFormsAreOneClass(t *testing.T) {
	root := tree(t, map[string]string{composed + "/1.jpg": "", decomposed + "/2.jpg": "", "caf\xe9/3.jpg": ""})
	want := []string{decomposed + "/2.jpg=" + composed, composed + "/1.jpg=" + composed, "caf\xe9/3.jpg=caf\xe9"}
	wantEqual(t, "samples", brief(mustScan(t, root, ScanOptions{})), want)
	drop := ScanOptions{Filter: Filter{DropLabels: []string{decomposed}}}
	wantEqual(t, "dropped", brief(mustScan(t, root, drop)), want[2:])
}

// TestListsInAnotherUnicodeForm: a list typed on one system names files from another.
func TestListsInAnotherUnicodeForm(t *testing.T) {
	root := tree(t, map[string]string{decomposed + "/" + composed + ".jpg": "", "b.jpg": ""})
	for name, text := range map[string]string{
		"composed":   "path,label\n" + composed + "/" + composed + ".jpg," + composed + "\n",
		"decomposed": "path,label\n" + decomposed + "/" + decomposed + ".jpg," + decomposed + "\n",
		"mixed":      "path,label\n" + composed + "/" + decomposed + ".jpg," + decomposed + "\n",
		"plain":      composed + "/" + composed + ".jpg\n",
		"no suffix":  "path,label\n" + composed + "/" + composed + "," + decomposed + "\n",
	} {
		l, err := readList(t, root, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantEqual(t, name, brief(l), []string{decomposed + "/" + composed + ".jpg=" + composed})
	}
}

func TestSpelling(t *testing.T) {
	for _, c := range []struct {
		classes     []string
		label, want string
	}{
		{[]string{decomposed, "b"}, composed, decomposed},
		{[]string{composed}, composed, composed},
		{[]string{composed, decomposed}, composed, composed},
		{[]string{decomposed}, "new", "new"},
		{[]string{"caf\xe9"}, "caf\xe9", "caf\xe9"},
	} {
		if got := Spelling(c.classes)(c.label); got != c.want {
			t.Errorf("%+q of %+q is %+q, want %+q", c.label, c.classes, got, c.want)
		}
	}
}
