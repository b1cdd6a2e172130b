package fscil_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/research/fscil"
)

// Lists that test a class with an image that it was trained with are refused.
func Example() {
	dir, err := os.MkdirTemp("", "lists")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for name, line := range map[string]string{
		"session_1.txt": "birds/train/owl/1.jpg", "test_1.txt": "birds/test/owl/2.jpg",
		"session_2.txt": "birds/train/emu/1.jpg", "test_2.txt": "birds/train/emu/1.jpg",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(line+"\n"), 0o644); err != nil {
			fmt.Println(err)
			return
		}
	}
	lists, err := fscil.ReadLists(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = lists.Protocol(fscil.Stripped(1))
	fmt.Println(err)
	// Output: leak: train/emu/1.jpg (class emu) is among the training images of session 2 and among the test images of session 2
}
