package gptree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// MarshalJSON writes the nodes in preorder as a list of numbers: the class of
// a leaf, −1 for a split. StickBreaking(3) is [-1,0,-1,1,2].
func (t *Tree) MarshalJSON() ([]byte, error) {
	if t.Classes() == 0 {
		return nil, errors.New("tree: it has no classes")
	}
	return json.Marshal(t.preorder())
}

// UnmarshalJSON reads the output of MarshalJSON. It accepts nothing else: there
// must be one leaf for each class 0 … C−1 and children must be in canonical
// order. On error the tree is unchanged.
func (t *Tree) UnmarshalJSON(text []byte) error {
	var preorder []int
	if err := json.Unmarshal(text, &preorder); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	read, err := assemble(preorder)
	if err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	if err := sameText(text, preorder); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	*t = *read
	return nil
}

// sameText rejects values that encoding/json reads as a number but MarshalJSON
// never writes, such as null or −0.
func sameText(text []byte, preorder []int) error {
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return err
	}
	want, err := json.Marshal(preorder)
	if err == nil && !bytes.Equal(compact.Bytes(), want) {
		err = errors.New("the list holds something other than plain integers")
	}
	return err
}
