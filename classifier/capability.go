package classifier

// A Wrapper is a Head that answers through another one.
type Wrapper interface {
	// Unwrap returns the head within.
	Unwrap() Head
	// Parts returns what takes the place of the head within for those optional
	// interfaces that it has and whose answers the wrapper changes: one value
	// for each.
	Parts() []any
}

// As returns c as a T, one of the optional interfaces, or else the part of a
// wrapper or the head within it that is one. Capabilities of heads are looked up
// with As and not with a type assertion, so that a Wrapper has those of the head
// within, no more and no fewer, without a method for each of them.
func As[T any](c Head) (T, bool) {
	for c != nil {
		if t, ok := c.(T); ok {
			return t, true
		}
		w, ok := c.(Wrapper)
		if !ok {
			break
		}
		for _, part := range w.Parts() {
			if t, ok := part.(T); ok {
				return t, true
			}
		}
		c = w.Unwrap()
	}
	var none T
	return none, false
}
