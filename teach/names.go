package teach

import (
	"slices"
)

// A class is what photos are of, whatever it is called.
type class struct {
	name string
	into *class // what it became part of, nil for nothing
	size int    // how many classes are one in it
	// passing reports that a Rename made the name, which nothing else stands for.
	passing bool
}

// now returns the class that it is part of. As the smaller class always joins the larger one,
// that takes O(log n) steps.
func (c *class) now() *class {
	for c.into != nil {
		c = c.into
	}
	return c
}

// join makes two classes one, with the name and the kind of name of the second.
func (c *class) join(other *class) *class {
	whole, part := other, c
	if c.size > other.size {
		whole, part = c, other
		whole.name, whole.passing = other.name, other.passing
	}
	part.into, whole.size = whole, whole.size+part.size
	return whole
}

// A naming knows the classes by their names.
type naming struct {
	present map[string]*class
	// base are the classes of the base model, by the names that it has of them.
	base map[string]*class
	// former names are those that classes gave up.
	former map[string]*class
}

func newNaming(base []string) *naming {
	n := &naming{present: map[string]*class{}, base: make(map[string]*class, len(base)), former: map[string]*class{}}
	for _, name := range base {
		n.base[name] = n.class(name)
	}
	return n
}

// class returns the class of a name.
func (n *naming) class(name string) *class {
	c, ok := n.present[name]
	if !ok {
		c = &class{name: name, size: 1}
		n.present[name] = c
	}
	return c
}

// all returns the classes of some names.
func (n *naming) all(names []string) []*class {
	out := make([]*class, len(names))
	for i, name := range names {
		out[i] = n.class(name)
	}
	return out
}

// rename follows a Rename or Merge. A class that returns to a name that it gave up has that for
// good, and what it was called meanwhile stands for nothing: somebody took it back.
func (n *naming) rename(l Line) {
	c := n.class(l.Class)
	if l.Do == Merge || !c.passing {
		n.former[l.Class] = c
	}
	returns := n.stoodFor(l.To, c)
	delete(n.present, l.Class)
	delete(n.former, l.To)
	if other, there := n.present[l.To]; there {
		c = c.join(other)
		c.passing = c.passing && !returns
	} else {
		c.name, c.passing = l.To, !returns
	}
	n.present[l.To] = c
}

// stoodFor reports whether a name was one of a class.
func (n *naming) stoodFor(name string, c *class) bool {
	for _, names := range []map[string]*class{n.former, n.base} {
		if was, ok := names[name]; ok && was.now() == c {
			return true
		}
	}
	return false
}

// stands returns what a name stands for that no class has: the class that gave it up.
func (n *naming) stands(name string) string {
	for _, names := range []map[string]*class{n.former, n.base} {
		if c, ok := names[name]; ok {
			return c.now().name
		}
	}
	return name
}

// namesOf returns the names of classes, sorted, each once.
func namesOf(classes []*class) []string {
	var out []string
	for _, c := range classes {
		out = append(out, c.now().name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
