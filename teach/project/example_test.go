package project_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/teach/project"
)

func Example() {
	dir, err := os.MkdirTemp("", "work")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	photos := filepath.Join(dir, "photos")
	if err := os.Mkdir(photos, 0o755); err != nil {
		panic(err)
	}
	p, err := project.Create(project.Project{Dir: filepath.Join(dir, "deer.project"), Images: photos})
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := project.Open(p.Dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Name(), filepath.Base(again.Images), filepath.Base(again.Model()), again.Begun())
	// Output: deer photos photos.model false
}
