package classifier

// A Journal keeps what long trainings have come to, so that one that was stopped
// goes on. It is safe for concurrent use.
type Journal interface {
	// Open returns the state that a training with that key, perhaps of an earlier
	// run, saved last; false where there is none.
	Open(key string) (State, bool)
	// Save keeps the settings and the float64 tensors of a state, in place of
	// what it kept.
	Save(key string, s State) error
	// Note tells the user how far the work is.
	Note(message string, args ...any)
}

// A JournalUser trains for long and can go on where it was stopped. Without a
// journal it trains in silence and from the beginning. What it learns does not
// depend on the journal.
type JournalUser interface {
	// UseJournal takes the journal for every training from now on. It is not safe
	// for concurrent use with other methods.
	UseJournal(Journal)
}

// UseJournal hands j to a head that has a use for it.
func UseJournal(head Head, j Journal) {
	if u, ok := head.(JournalUser); ok {
		u.UseJournal(j)
	}
}
