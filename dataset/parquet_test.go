package dataset

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/parquetbomb"
)

// TestParquetFilesThatCostMuch are refused with a reason, and what they take until then
// is bounded. Only the long cells are of columns that need not be read.
func TestParquetFilesThatCostMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("expands large pages")
	}
	for name, file := range parquetbomb.Files() {
		g := guesser{ListOptions{PathColumn: "path", LabelColumn: "label"}, func(string, string) bool { return false }}
		read := 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := eachListed(bytes.NewReader(file), int64(len(file)), g, func(listRow) error { read++; return nil })
		runtime.ReadMemStats(&after)
		if name == "long cells" {
			if err != nil || read != 50 {
				t.Errorf("%s: %d rows, %v", name, read, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "Parquet file") {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<30 || read*maxCellBytes > 2*leastText {
			t.Errorf("%s: %d rows were read and %d bytes allocated", name, read, n)
		}
	}
}
