package torchpickle

import "math"

// Limits of one pickle; EfficientNet-Lite4 takes some 20000 steps.
const (
	maxSteps  = 1 << 20
	maxString = 1 << 16
)

// The kinds of values besides nil, bool, int64, float64, string, *Tensor and *storage.
type (
	// global is the name of a class or function, with a space after its module.
	global string
	tuple  []any
	list   struct{ items []any }
	dict   struct{ values map[string]any }
)

// The names that describe a dict of tensors.
const (
	orderedDict   global = "collections OrderedDict"
	rebuildTensor global = "torch._utils _rebuild_tensor_v2"
	torchModule          = "torch "
)

// A machine reads one pickle.
type machine struct {
	*cursor
	stack []any
	// marks are the heights of the stack at each open mark.
	marks []int
	memo  map[uint64]any
	// storages collects those that tensors name; nil refuses any.
	storages map[string]*storage
}

// run reads the next pickle and returns its value; errors are kept by the cursor.
func run(c *cursor, storages map[string]*storage) any {
	const stop = '.'
	m := &machine{cursor: c, memo: map[uint64]any{}, storages: storages}
	for range maxSteps {
		op := byte(m.number(1))
		switch {
		case m.err != nil:
			return nil
		case op == stop:
			v := m.pop()
			if len(m.stack) > 0 || len(m.marks) > 0 {
				m.fail("a value is left over")
			}
			return v
		}
		if !m.literalValue(op) && !m.container(op) && !m.reference(op) && !m.torch(op) {
			m.fail("operation %q is not one of a dict of tensors", op)
		}
	}
	m.fail("a pickle of more than %d steps", maxSteps)
	return nil
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

// pop takes a value off the stack, but none below the last mark.
func (m *machine) pop() any {
	floor := 0
	if n := len(m.marks); n > 0 {
		floor = m.marks[n-1]
	}
	if m.err == nil && len(m.stack) <= floor {
		m.fail("a value is missing")
	}
	if m.err != nil {
		return nil
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v
}

// popN takes n values off the stack.
func (m *machine) popN(n int) tuple {
	values := make(tuple, n)
	for i := n - 1; i >= 0; i-- {
		values[i] = m.pop()
	}
	return values
}

// popMark takes the values above the last mark, and the mark.
func (m *machine) popMark() tuple {
	if m.err == nil && len(m.marks) == 0 {
		m.fail("a mark is missing")
	}
	if m.err != nil {
		return nil
	}
	values := m.popN(len(m.stack) - m.marks[len(m.marks)-1])
	m.marks = m.marks[:len(m.marks)-1]
	return values
}

// literalValue runs an operation that pushes a constant.
func (m *machine) literalValue(op byte) bool {
	switch op {
	case 'N':
		m.push(nil)
	case '\x88':
		m.push(true)
	case '\x89':
		m.push(false)
	case 'K':
		m.push(int64(m.number(1)))
	case 'M':
		m.push(int64(m.number(2)))
	case 'J':
		m.push(int64(int32(m.number(4))))
	case '\x8a':
		m.push(m.long())
	case 'G':
		m.push(m.float())
	case 'X':
		n := m.number(4)
		if n > maxString {
			m.fail("a text of %d bytes", n)
		}
		m.push(string(m.bytes(n)))
	case 'c':
		module := m.line()
		m.push(global(module + " " + m.line()))
	default:
		return false
	}
	return true
}

// long reads a whole number of up to eight bytes.
func (m *machine) long() int64 {
	n := m.number(1)
	if n > 8 {
		m.fail("a number of %d bytes", n)
	}
	v, unused := m.number(min(n, 8)), 64-8*min(n, 8)
	return int64(v<<unused) >> unused
}

// float reads a big-endian double.
func (m *machine) float() float64 {
	var bits uint64
	for _, b := range m.bytes(8) {
		bits = bits<<8 | uint64(b)
	}
	return math.Float64frombits(bits)
}

// container runs an operation that makes or fills a list, a tuple or a dict.
func (m *machine) container(op byte) bool {
	switch op {
	case '(':
		m.marks = append(m.marks, len(m.stack))
	case ')':
		m.push(tuple{})
	case '\x85', '\x86', '\x87':
		m.push(m.popN(int(op) - '\x84'))
	case 't':
		m.push(m.popMark())
	case ']':
		m.push(&list{})
	case 'a':
		m.extend(m.popN(1))
	case 'e':
		m.extend(m.popMark())
	case '}':
		m.push(&dict{map[string]any{}})
	case 's':
		m.set(m.popN(2))
	case 'u':
		m.set(m.popMark())
	default:
		return false
	}
	return true
}

// extend appends values to the list on top of the stack.
func (m *machine) extend(values tuple) {
	v := m.pop()
	l, ok := v.(*list)
	if !ok {
		m.fail("only a list is appended to")
		return
	}
	l.items = append(l.items, values...)
	m.push(l)
}

// set stores keys and values in the dict on top of the stack.
func (m *machine) set(values tuple) {
	v := m.pop()
	d, ok := v.(*dict)
	if !ok || len(values)%2 != 0 {
		m.fail("only a dict has keys and values")
		return
	}
	for i := 0; i < len(values); i += 2 {
		key, ok := values[i].(string)
		if _, twice := d.values[key]; !ok || twice {
			m.fail("a key is no text, or %q comes twice", key)
			return
		}
		d.values[key] = values[i+1]
	}
	m.push(d)
}

// reference runs an operation on the memo, in which a pickle keeps values for later.
func (m *machine) reference(op byte) bool {
	switch op {
	case 'q':
		m.keep(m.number(1))
	case 'r':
		m.keep(m.number(4))
	case 'h':
		m.recall(m.number(1))
	case 'j':
		m.recall(m.number(4))
	case '\x80':
		if v := m.number(1); v != 2 {
			m.fail("pickle protocol %d, not 2", v)
		}
	default:
		return false
	}
	return true
}

func (m *machine) keep(name uint64) {
	v := m.pop()
	m.memo[name] = v
	m.push(v)
}

func (m *machine) recall(name uint64) {
	v, ok := m.memo[name]
	if !ok {
		m.fail("value %d was never kept", name)
	}
	m.push(v)
}
