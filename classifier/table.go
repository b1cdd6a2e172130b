package classifier

import "slices"

// A Table holds one value per class in column order: new classes go to the end,
// dropped ones vanish. The zero Table is empty and ready to use.
type Table[T any] struct {
	names  []string
	values []T
	column map[string]int
}

// NewTable returns a table of distinct names and their values.
func NewTable[T any](names []string, values []T) Table[T] {
	t := Table[T]{names: slices.Clone(names), values: slices.Clone(values)}
	t.index()
	return t
}

// Len returns the number of classes.
func (t *Table[T]) Len() int { return len(t.names) }

// Names returns the classes in column order; the caller must not change them.
func (t *Table[T]) Names() []string { return t.names }

// Values returns the values in column order, sharing memory with the table.
func (t *Table[T]) Values() []T { return t.values }

// Get returns the value of a class and reports whether it exists.
func (t *Table[T]) Get(name string) (T, bool) {
	if i, ok := t.column[name]; ok {
		return t.values[i], true
	}
	var zero T
	return zero, false
}

// Column returns the column of a class and reports whether it exists.
func (t *Table[T]) Column(name string) (int, bool) {
	i, ok := t.column[name]
	return i, ok
}

// Put replaces the value of a class, or appends the class.
func (t *Table[T]) Put(name string, v T) {
	if i, ok := t.column[name]; ok {
		t.values[i] = v
		return
	}
	if t.column == nil {
		t.column = make(map[string]int)
	}
	t.column[name] = len(t.names)
	t.names, t.values = append(t.names, name), append(t.values, v)
}

// Drop removes a class, if it is there.
func (t *Table[T]) Drop(name string) {
	i, ok := t.column[name]
	if !ok {
		return
	}
	t.names, t.values = slices.Delete(t.names, i, i+1), slices.Delete(t.values, i, i+1)
	t.index()
}

// Rename gives a class another name, which no class has.
func (t *Table[T]) Rename(name, to string) {
	if i, ok := t.column[name]; ok {
		t.names[i] = to
		t.index()
	}
}

// Clone returns an independent table; the values are copied by assignment.
func (t *Table[T]) Clone() Table[T] { return NewTable(t.names, t.values) }

func (t *Table[T]) index() {
	t.column = make(map[string]int, len(t.names))
	for i, n := range t.names {
		t.column[n] = i
	}
}
