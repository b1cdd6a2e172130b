package classifier

// A Checkpoint stores the parts of a long job, so that a job that was stopped
// can resume. It is safe for concurrent use.
type Checkpoint interface {
	// Load returns what was last saved under name, perhaps by an earlier run;
	// false if there is nothing or it has another key. The key changes with
	// everything that the part depends on.
	Load(name, key string) (State, bool)
	// Save stores the settings and the float64 tensors of a state, replacing what
	// was saved under name.
	Save(name, key string, s State) error
	// Note tells the user about progress.
	Note(message string, args ...any)
}

// A Checkpointer trains for long and can resume where it was stopped. Without a
// checkpoint it trains silently and from the beginning. The result does not
// depend on the checkpoint.
type Checkpointer interface {
	// UseCheckpoint sets the checkpoint of all later training. It is not safe for
	// concurrent use with other methods.
	UseCheckpoint(Checkpoint)
}

// UseCheckpoint passes c to a head that is a Checkpointer.
func UseCheckpoint(head Head, c Checkpoint) {
	if u, ok := head.(Checkpointer); ok {
		u.UseCheckpoint(c)
	}
}
