package classifier

import (
	"fmt"
	"slices"
	"sync"
)

// registered are the methods of other programs.
var registered struct {
	sync.Mutex
	methods []Method
}

// Register adds a method of a program's own to those that models may have, under a name and a key
// that no other method has. Call it before anything is trained or loaded, as from an init function:
// a model with this method is read only by programs that register it. The method must pass the
// contract of package classifiertest.
func Register(m Method) error {
	registered.Lock()
	defer registered.Unlock()
	switch {
	case m.Name == "" || m.Key == "":
		return fmt.Errorf("register method %q: it needs a name and a key", m.Name)
	case m.New == nil || m.Load == nil:
		return fmt.Errorf("register method %q: describe it with Define", m.Name)
	case slices.ContainsFunc(registered.methods, func(o Method) bool { return o.Name == m.Name || o.Key == m.Key }):
		return fmt.Errorf("register method %q: its name or key is taken", m.Name)
	}
	registered.methods = append(registered.methods, m)
	return nil
}

// Registered returns the methods of other programs, in the order in which they were registered.
func Registered() []Method {
	registered.Lock()
	defer registered.Unlock()
	return slices.Clone(registered.methods)
}
