package teach

import (
	"fmt"
	"os"
)

// Forget removes photos from the journal and its embeddings, and fits the model
// anew. It returns how many of them the journal named, and says where else traces
// are.
func (s *Session) Forget(ids []ID) (removed int, left []string, err error) {
	gone := map[ID]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	s.fitting.Lock() // a fit reads the journal
	s.mu.Lock()
	removed, err = s.journal.Forget(gone)
	if err == nil && removed > 0 {
		s.state = fold(s.journal.Lines())
		if s.live != nil {
			s.live.stale = true // the shared parameters knew it
		}
		s.touch()
	}
	if err == nil {
		left = s.traces(gone)
		s.refitIfDue()
	}
	s.mu.Unlock()
	s.fitting.Unlock()
	s.options.Changed("change")
	return removed, left, err
}

// traces says what Forget does not reach.
func (s *Session) traces(gone map[ID]bool) (left []string) {
	for _, sample := range s.base.samples {
		if gone[ID(sample.Content)] {
			left = append(left, fmt.Sprintf("%s%s learned some of the photos before the journal began: use pipeline forget on the model, and begin a new journal", s.options.Model, baseSuffix))
			break
		}
	}
	for _, file := range []string{s.options.Model, s.options.Model + ".prev"} {
		if _, err := os.Stat(file); err == nil {
			left = append(left, fmt.Sprintf("%s was written before: save it, twice for its previous version", file))
		}
	}
	for _, p := range s.photos {
		if gone[p.ID] && p.Path != "" {
			left = append(left, "the files themselves are still in the folder, and their embeddings in the cache")
			break
		}
	}
	return left
}
