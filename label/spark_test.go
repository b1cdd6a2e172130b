package label_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/label"
)

// sparkLabels is what the Spark job has for columns, and what it makes of two answers.
const sparkLabels = `import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import label
rows = [label.row(json.loads(line)) for line in sys.stdin]
print(json.dumps({"columns": list(label.COLUMNS.items()), "schema": label.SCHEMA, "rows": rows}))`

// TestSparkHasTheSameColumns: the Spark job writes the columns of labels.parquet, and puts every value of an
// answer into its own.
func TestSparkHasTheSameColumns(t *testing.T) {
	python := testenv.Python(t)
	var columns [][2]string
	row := reflect.TypeFor[label.Row]()
	for i := range row.NumField() {
		name, _, _ := strings.Cut(row.Field(i).Tag.Get("parquet"), ",")
		kind := map[string]string{"string": "string", "label.By": "string", "bool": "boolean", "label.number": "double",
			"*label.number": "double", "label.pairs": "array<struct<label:string,probability:double>>",
		}[row.Field(i).Type.String()]
		columns = append(columns, [2]string{name, kind})
	}
	const answers = `{"path":"a.jpg","label":"cat","probability":1,"margin":1,"entropy":0,"novelty":-2,` +
		`"rejected":false,"top_k":[["cat",1],["dog",0]],"p_new":0.25,"by":"person"}` + "\n" +
		`{"path":"b.jpg","error":"no photo"}` + "\n"
	run := exec.Command(python, "-c", sparkLabels, filepath.Join("..", "deploy", "spark"))
	run.Stdin, run.Stderr = strings.NewReader(answers), os.Stderr
	out, err := run.Output()
	var got struct {
		Columns [][2]string
		Schema  string
		Rows    [][]any
	}
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Columns, columns) {
		t.Errorf("columns %v, and by Spark %v", columns, got.Columns)
	}
	if !strings.HasSuffix(got.Schema, "`split` string, error string") {
		t.Error(got.Schema)
	}
	n := len(columns)
	labelled, failed := make([]any, n+1), make([]any, n+1)
	copy(labelled, []any{"a.jpg", "cat", 1.0, 1.0, 0.0, -2.0, false, []any{[]any{"cat", 1.0}, []any{"dog", 0.0}}, 0.25,
		"person"})
	failed[0], failed[n] = "b.jpg", "no photo"
	if want := [][]any{labelled, failed}; !reflect.DeepEqual(got.Rows, want) {
		t.Errorf("rows %v, want %v", got.Rows, want)
	}
}
