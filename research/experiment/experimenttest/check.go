package experimenttest

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
)

// Run runs an experiment whose settings are valid, writes everything, and returns it
// with its cells. Every table must be filled, and the same again must come from the parts.
func Run(t testing.TB, e experiment.Experiment, env experiment.Env) (experiment.Outcome, grid.Grid) {
	t.Helper()
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	o, err := e.Run(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range o.Tables {
		for _, row := range table.Rows {
			if len(row) != len(table.Header) {
				t.Errorf("table %s: a row of %d cells under %d: %q", table.Name, len(row), len(table.Header), row)
			}
		}
	}
	if err := o.Write(t.TempDir(), nil); err != nil {
		t.Error(err)
	}
	again, err := e.Run(context.Background(), env)
	if err != nil || !reflect.DeepEqual(again.Results, o.Results) || !reflect.DeepEqual(again.Tables, o.Tables) {
		t.Errorf("from its parts the results differ, %v", err)
	}
	return o, o.Results.(experiment.Results).Cells
}

// Names checks that the error of invalid settings begins with the name of the field.
func Names[C experiment.Experiment](t *testing.T, valid func() C, changes map[string]func(*C)) {
	t.Helper()
	for field, change := range changes {
		c := valid()
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Explains checks that a run with a wrong input ends with an *experiment.InputError that
// holds the text.
func Explains[C experiment.Experiment](t *testing.T, valid func() C, env func() experiment.Env,
	changes map[string]func(*C, *experiment.Env)) {
	t.Helper()
	for want, change := range changes {
		c, s := valid(), env()
		change(&c, &s)
		var input *experiment.InputError
		if _, err := c.Run(context.Background(), s); !errors.As(err, &input) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
