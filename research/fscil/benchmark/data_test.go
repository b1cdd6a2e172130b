package benchmark

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestDataAreCompared: a folder of the benchmark's shape does not differ; one without a file or an
// image does, and the sentence has both numbers.
func TestDataAreCompared(t *testing.T) {
	dir := t.TempDir()
	cub := Data{Under: []string{"images", "CUB_200_2011/images"}, Classes: 2, Images: 3}
	for _, file := range []string{"a/1.jpg", "a/2.jpg", "b/1.jpg", "list.txt"} {
		path := filepath.Join(dir, "CUB_200_2011", "images", filepath.FromSlash(file))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(file), 0o600))
	}
	for _, folder := range []string{dir, filepath.Join(dir, "CUB_200_2011")} {
		if says, err := cub.Differs(folder); says != "" || err != nil {
			t.Errorf("%s: %q, %v", folder, says, err)
		}
	}
	must.Do(t, os.Symlink("b", filepath.Join(dir, "CUB_200_2011", "images", "c")))
	cub.Classes, cub.Images = 3, 5
	if says, err := cub.Differs(dir); !strings.Contains(says, "3 classes with 4 files") ||
		!strings.Contains(says, "3 with 5") || err != nil {
		t.Errorf("%q, %v", says, err)
	}
	if _, err := cub.Differs(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a folder that is missing does not differ")
	}
	cifar := Data{Files: map[string]int64{"list.txt": 8}}
	within := filepath.Join(dir, "CUB_200_2011", "images")
	if says, err := cifar.Differs(within); says != "" || err != nil {
		t.Errorf("%q, %v", says, err)
	}
	cifar.Files["list.txt"] = 9
	if says, err := cifar.Differs(within); !strings.Contains(says, "8 bytes") || err != nil {
		t.Errorf("%q, %v", says, err)
	}
	cifar.Files["none.bin"] = 1
	delete(cifar.Files, "list.txt")
	if _, err := cifar.Differs(within); !os.IsNotExist(err) {
		t.Errorf("a file that is missing: %v", err)
	}
}

// TestCatalogueOfData: every entry says where its data are and what to compare, and other names are
// unknown.
func TestCatalogueOfData(t *testing.T) {
	for _, name := range []string{"cub200", "cifar100", "cifar100_all", "cifar10_all", "imagenet1k"} {
		d, known, err := FindData(name)
		if err != nil || !known {
			t.Fatal(name, known, err)
		}
		none := errors.New("nothing")
		if where := Where(name, none); !errors.Is(where, none) || !strings.Contains(where.Error(), "https://") ||
			len(d.Files) == 0 && (d.Classes == 0 || d.Images == 0) {
			t.Error(name, fmt.Sprintf("%+v", d))
		}
		records := int64(0)
		for _, n := range d.Files {
			records += n / 3073
		}
		if len(d.Files) > 0 && records/1000 != 60 && records/1000 != 59 {
			t.Errorf("%s: about %d pictures", name, records)
		}
	}
	if err := Where("images", fs.ErrNotExist); err.Error() != fs.ErrNotExist.Error() {
		t.Errorf("of unknown data it says %v", err)
	}
}
