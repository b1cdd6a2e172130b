package teach

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
)

// TestMutatedJournals: a damaged journal is refused or read, at a bounded cost.
func TestMutatedJournals(t *testing.T) {
	lines := `{"seq":1,"time":"2026-01-01T00:00:00Z","do":"start"}` + "\n"
	for i := range 60 {
		seq, photo := i+2, fmt.Sprintf(`"images":["%064x"]`, i%7)
		do := []string{
			`"label","class":"a",` + photo, `"unlabel",` + photo, `"rename","class":"a","to":"b"`,
			fmt.Sprintf(`"undo","of":%d`, seq-1), fmt.Sprintf(`"redo","of":%d`, seq-2),
		}[i%5]
		lines += fmt.Sprintf(`{"seq":%d,"time":"2026-01-01T00:00:00Z","do":%s}`+"\n", seq, do)
	}
	sound := filepath.Join(t.TempDir(), "j")
	must.Do(t, os.WriteFile(sound, []byte(lines), 0o600))
	openedJournal(t, sound) // what is damaged then was right
	dir := t.TempDir()
	mutation.Each(t, 500, func(i int, rng *rand.Rand) error {
		file := filepath.Join(dir, fmt.Sprint(i))
		damaged := mutation.Bytes(rng, []byte(lines), [][]byte{[]byte(lines)})
		if i%4 == 0 {
			damaged = []byte(strings.ReplaceAll(string(damaged), `"images"`, `"embeddings":["AAAA"],"images"`))
		}
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			return err
		}
		j, err := openJournal(file)
		if err != nil {
			return nil
		}
		fold(j.lines, newOrigin(nil, nil)).examples()
		return j.Close()
	})
}
