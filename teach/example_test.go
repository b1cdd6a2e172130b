package teach_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// Three photos, of which a person names two; the third looks like the first.
func Example() {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := nameTwo(context.Background(), filepath.Join(dir, "pets.model")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 3.jpg: cat
	// saved: [cat dog]
}

func nameTwo(ctx context.Context, file string) error {
	fresh, err := model.New(model.Settings{Method: "ncm", Heads: method.DefaultConfig()})
	if err != nil {
		return err
	}
	s, err := teach.Open(teach.Options{Model: file, Fresh: fresh, Dim: 2, Temp: filepath.Dir(file)})
	if err != nil {
		return err
	}
	defer s.Close()
	photos := []teach.Photo{{Path: "1.jpg"}, {Path: "2.jpg"}, {Path: "3.jpg"}}
	for i, p := range photos {
		photos[i].ID = sha256.Sum256([]byte(p.Path)) // of the file in real use
	}
	if err := s.Add(photos, [][]float32{{1, 0}, {0, 1}, {1, 0.1}}); err != nil {
		return err
	}
	for i, class := range []string{"cat", "dog"} {
		if _, err := s.Do(teach.Decision{Do: teach.Label, Images: []teach.ID{photos[i].ID}, Class: class}); err != nil {
			return err
		}
	}
	s.Wait() // for the model that follows
	item, _ := s.Get(photos[2].ID)
	fmt.Printf("%s: %s\n", item.Path, item.Top[0].Label)
	if _, err := s.Save(ctx); err != nil {
		return err
	}
	m, err := model.Load(file)
	if err != nil {
		return err
	}
	fmt.Println("saved:", m.Classes())
	return nil
}
