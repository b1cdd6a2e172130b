package torchpickle

import (
	"bytes"
	"fmt"
)

// The first two pickles: a magic number and the version of the format.
const (
	magic   = "\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
	version = "\x80\x02M\xe9\x03."
)

// A File is a state dict.
type File struct{ tensors map[string]*Tensor }

// Read reads a file of PyTorch's legacy format that contains nothing but a dict of
// tensors. The File refers to data, which must not change.
func Read(data []byte) (*File, error) {
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return nil, fmt.Errorf("a zip archive, not a file of PyTorch's legacy format")
	}
	c := &cursor{data: data}
	c.literal(magic, "not a file of PyTorch's legacy format")
	c.literal(version, "another version of PyTorch's legacy format than 1001")
	storages := map[string]*storage{}
	if system, ok := run(c, nil).(*dict); c.err == nil && (!ok || system.values["little_endian"] != true) {
		c.fail("its numbers are not little-endian")
	}
	f := &File{tensorsOf(c, run(c, storages))}
	readStorages(c, run(c, nil), storages)
	if c.err == nil && c.at < len(data) {
		c.fail("%d bytes after the end", len(data)-c.at)
	}
	if c.err != nil {
		return nil, fmt.Errorf("byte %d of the weights: %w", c.at, c.err)
	}
	return f, nil
}

// tensorsOf returns the tensors of a dict.
func tensorsOf(c *cursor, v any) map[string]*Tensor {
	d, ok := v.(*dict)
	if c.err == nil && !ok {
		c.fail("it holds no dict of tensors")
	}
	if c.err != nil {
		return nil
	}
	tensors := map[string]*Tensor{}
	for name, v := range d.values {
		t, ok := v.(*Tensor)
		if !ok {
			c.fail("%q is no tensor", name)
		}
		tensors[name] = t
	}
	return tensors
}

// readStorages reads the numbers of the storages, in the order of their keys.
func readStorages(c *cursor, keys any, storages map[string]*storage) {
	order, ok := keys.(*list)
	if c.err == nil && (!ok || len(order.items) != len(storages)) {
		c.fail("it does not list its %d storages", len(storages))
	}
	if c.err != nil {
		return
	}
	for _, key := range order.items {
		name, _ := key.(string)
		s := storages[name]
		if s == nil || s.data != nil {
			c.fail("storage %q is unknown or comes twice", name)
			return
		}
		if n := c.number(8); c.err == nil && n != uint64(s.elements) {
			c.fail("storage %q has %d elements, not %d", name, n, s.elements)
		}
		if s.data = c.bytes(uint64(s.elements) * elementBytes(s.kind)); c.err != nil {
			return
		}
	}
}

// Tensor returns the tensor of that name, or an error.
func (f *File) Tensor(name string) (*Tensor, error) {
	t, ok := f.tensors[name]
	if !ok {
		return nil, fmt.Errorf("there is no tensor %q", name)
	}
	return t, nil
}
