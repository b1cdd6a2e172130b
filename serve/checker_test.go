package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A checker is scripts/tools/apicheck with openapi.yaml. It ends with the tests.
type checker struct {
	mu  sync.Mutex
	in  *json.Encoder
	out *json.Decoder
}

// theChecker starts the one of all tests.
var theChecker = sync.OnceValues(func() (*checker, error) {
	var api map[string]any
	if err := yaml.Unmarshal(description, &api); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "run", "-C", "../scripts/tools", "./apicheck")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c := &checker{in: json.NewEncoder(in), out: json.NewDecoder(out)}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("apicheck: %w", err)
	}
	return c, c.in.Encode(api)
})

// check holds a body against the schema at a JSON pointer.
func (c *checker) check(at string, body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.in.Encode(struct{ At, Body string }{at, string(body)}); err != nil {
		return fmt.Errorf("apicheck: %w", err)
	}
	var text string
	if err := c.out.Decode(&text); err != nil {
		return fmt.Errorf("apicheck: %w", err)
	}
	if text != "" {
		return errors.New(text)
	}
	return nil
}

// TestTheCheckerChecks: what a schema does not allow is an error.
func TestTheCheckerChecks(t *testing.T) {
	const health = "/paths/~1healthz/get/responses/200/content/application~1json/schema"
	c := must.Get(theChecker())(t)
	if err := c.check(health, []byte(`{"status": "ok"}`)); err != nil {
		t.Error(err)
	}
	for body, want := range map[string]string{
		`{"status": "bad"}`: "ok", `{}`: "status", `{`: "EOF",
	} {
		if err := c.check(health, []byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	if err := c.check("/paths/none", []byte(`{}`)); err == nil {
		t.Error("a schema that is not there")
	}
}
