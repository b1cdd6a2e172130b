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
