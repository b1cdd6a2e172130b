package classifier

// A Checkpoint keeps the parts of a long job, so that a job that was stopped
// goes on. It is safe for concurrent use.
type Checkpoint interface {
	// Load returns what was saved last under that name, perhaps by an earlier
	// run; false where there is nothing, or what there is has another key. The
	// key changes with everything that the part depends on.
	Load(name, key string) (State, bool)
	// Save keeps the settings and the float64 tensors of a state in place of
	// what had that name.
	Save(name, key string, s State) error
	// Note tells the user how far the work is.
	Note(message string, args ...any)
}

// A Checkpointer trains for long and can go on where it was stopped. Without a
// checkpoint it trains silently and from the beginning. What it learns does not
// depend on the checkpoint.
type Checkpointer interface {
	// UseCheckpoint sets the checkpoint of every training from now on. It is not
	// safe for concurrent use with other methods.
	UseCheckpoint(Checkpoint)
}

// UseCheckpoint hands c to a head that has a use for it.
func UseCheckpoint(head Head, c Checkpoint) {
	if u, ok := head.(Checkpointer); ok {
		u.UseCheckpoint(c)
	}
}
