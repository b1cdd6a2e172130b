package serve_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/serve"
	"github.com/seed-90d10d51/pipeline/teach"
)

// The page and the API of a new session. With Options.Embedder and Server.Work, it reads the
// folder's photos too.
func Example() {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := ask(dir, "/v1/status"); err != nil {
		fmt.Println(err)
	}
	// Output: 200 OK true
}

func ask(dir, route string) error {
	fresh, err := model.New(model.Settings{Method: "ncm", Heads: method.DefaultConfig()})
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "pets.model")
	session, err := teach.Open(teach.Options{Model: file, Fresh: fresh, Dim: 2, Temp: dir})
	if err != nil {
		return err
	}
	defer session.Close()
	server := serve.New(serve.Options{
		Session: session, Root: dir, Title: "Pets", Thumbnails: filepath.Join(dir, "thumbnails"),
		Scan: func(context.Context) ([]dataset.Sample, error) { return nil, nil },
	})
	site := httptest.NewServer(server.Handler())
	defer site.Close()
	answer, err := http.Get(site.URL + route)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Println(answer.Status, strings.Contains(string(text), `"method":"ncm"`))
	return err
}
