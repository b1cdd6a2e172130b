package torchpickle

import "strings"

// torch runs an operation with which PyTorch describes tensors.
func (m *machine) torch(op byte) bool {
	switch op {
	case 'R':
		m.call()
	case 'b': // the state of a dict: versions of PyTorch's modules, which are not needed
		m.pop()
		d := m.pop()
		if _, ok := d.(*dict); !ok {
			m.fail("only a dict has a state")
		}
		m.push(d)
	case 'Q':
		m.push(m.storageOf(m.pop()))
	default:
		return false
	}
	return true
}

// call makes what the two known functions make: an empty dict, or a tensor.
func (m *machine) call() {
	argument, function := m.pop(), m.pop()
	arguments, _ := argument.(tuple)
	switch {
	case m.err != nil:
	case function == orderedDict && len(arguments) == 0:
		m.push(&dict{map[string]any{}})
	case function == rebuildTensor && len(arguments) >= 4:
		m.push(m.tensor(arguments))
	default:
		name, _ := function.(global)
		m.fail("it calls %q, which is not called here", strings.ReplaceAll(string(name), " ", "."))
	}
}

// tensor reads the arguments of _rebuild_tensor_v2: the storage, the offset in it, the
// shape and the strides; what follows is about training.
func (m *machine) tensor(arguments tuple) *Tensor {
	t := &Tensor{}
	var hasStorage, hasOffset bool
	t.storage, hasStorage = arguments[0].(*storage)
	t.offset, hasOffset = arguments[1].(int64)
	t.shape, t.strides = m.sizes(arguments[2]), m.sizes(arguments[3])
	if !hasStorage || !hasOffset {
		m.fail("a tensor without a storage or an offset")
	}
	if m.err == nil {
		m.err = t.check()
	}
	return t
}

// sizes reads a tuple of whole numbers.
func (m *machine) sizes(v any) []int64 {
	values, ok := v.(tuple)
	if !ok || len(values) > maxAxes {
		m.fail("a tensor has up to %d axes", maxAxes)
		return nil
	}
	sizes := make([]int64, len(values))
	for i, v := range values {
		if sizes[i], ok = v.(int64); !ok {
			m.fail("the size of an axis is no whole number")
		}
	}
	return sizes
}

// storageOf reads what names a storage: the word storage, its class, its key, a device,
// the number of its elements, and None.
func (m *machine) storageOf(v any) *storage {
	id, _ := v.(tuple)
	if m.storages == nil || len(id) != 6 || id[0] != "storage" || id[5] != nil {
		m.fail("only tensors have storages")
		return nil
	}
	class, _ := id[1].(global)
	key, isText := id[2].(string)
	elements, isNumber := id[4].(int64)
	s := &storage{kind: strings.TrimPrefix(string(class), torchModule), elements: elements}
	size := elementBytes(s.kind)
	switch {
	case size == 0 || !strings.HasPrefix(string(class), torchModule):
		m.fail("a storage of %q: only floats and whole numbers are read", class)
	case !isText || !isNumber || elements < 0 || uint64(elements) > uint64(len(m.data))/size:
		m.fail("storage %q of %d elements does not fit into the file", key, elements)
	}
	if m.err != nil {
		return nil
	}
	if known := m.storages[key]; known == nil {
		m.storages[key] = s
	} else if known.kind != s.kind || known.elements != elements {
		m.fail("storage %q is described in two ways", key)
	}
	return m.storages[key]
}
