package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestYAMLReadsBack(t *testing.T) {
	said := must.Get(Load(Sources{Set: []string{
		"seed=18446744073709551615", "classifier.ppca.logdet=false", "classifier.ppca.preset=paper", "images=a: b",
		"preprocess.mean=0.1,0.2,0.3", "preprocess.std=1,1,1", "fscil.methods=ncm,ppca", "fscil.dataset=on",
		"label.format=csv,jsonl",
	}}))(t)
	text := must.Get(said.YAML())(t)
	file := filepath.Join(t.TempDir(), "config.yaml")
	write(t, file, string(text))
	read, err := Load(Sources{File: file})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !reflect.DeepEqual(read, said) {
		t.Errorf("wrote\n%+v\nread\n%+v\n%s", said, read, text)
	}
}

func TestBuiltInConfigsHaveNames(t *testing.T) {
	c, err := Load(Sources{File: "ppca_paper"})
	if err != nil || c.Classifier.Name != "ppca" {
		t.Errorf("%v, %v", c.Classifier.Name, err)
	}
	t.Chdir(t.TempDir())
	must.Do(t, os.Mkdir("ppca_paper", 0o755))
	if c, err := Load(Sources{File: "ppca_paper"}); err != nil || c.Classifier.Name != "ppca" {
		t.Errorf("with a folder of that name: %v, %v", c.Classifier.Name, err)
	}
	if _, err := Load(Sources{File: "ppca_papers"}); err == nil ||
		!containsAll(err.Error(), "ppca_paper", "reference") {
		t.Errorf("error %v", err)
	}
	if _, err := Load(Sources{File: "ppca_paper.yaml"}); err == nil {
		t.Error("a file that is not there was found")
	}
}

func containsAll(s string, words ...string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}
