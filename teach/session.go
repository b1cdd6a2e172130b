package teach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/model"
)

// Suffixes of the files beside MODEL.
const (
	journalSuffix = ".journal"
	baseSuffix    = ".base"
)

// growth is how much the examples grow until the next fit.
const growth = 1.5

// maxClassName is the most bytes of a name that is typed.
const maxClassName = 200

// Options configure a Session.
type Options struct {
	// Model is the MODEL file. If there is none and no journal, the session starts
	// from Fresh, a model that has learned nothing.
	Model string
	Fresh *model.Model
	// Dim is the number of values of an embedding.
	Dim int
	// Temp is the folder of temporary files, of 8 bytes per value of an embedding.
	Temp    string
	Backend linalg.Backend
	// ToolVersion is written into saved models.
	ToolVersion string
	// Now is the clock of the journal; nil means time.Now.
	Now func() time.Time
	// Changed, unless nil, is called after a change: "change" for a decision,
	// "refit" when a fit begins or ends, "status" for photos, "groups".
	Changed func(event string)
}

// A Refusal reports that a request cannot be met; Text says why, for people.
type Refusal struct {
	Reason Reason
	Text   string
}

func (r *Refusal) Error() string { return r.Text }

// A Reason is the kind of a Refusal.
type Reason int

// The reasons.
const (
	Invalid  Reason = iota // the request itself is wrong
	Unknown                // there is no such photo or class
	Conflict               // it does not fit the present state
)

func refuse(r Reason, format string, args ...any) error {
	return &Refusal{r, fmt.Sprintf(format, args...)}
}

// A Photo is a file of the folder.
type Photo struct {
	ID ID
	// Path is below the folder of photos, as text.
	Path string
	// Class is what its folder names, "" for nothing.
	Class   string
	Changed time.Time
	// Copies counts other files of the same content.
	Copies int
}

// A Session is safe for concurrent use.
type Session struct {
	options Options

	fitting sync.Mutex // one fit at a time
	working sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc

	mu      sync.RWMutex
	journal *Journal
	base    *base
	state   *state
	// learned has the classes in which the base model learned a photo.
	learned map[ID][]string
	live    *live // nil without a model
	scores  *scores
	left    leftOut
	photos  []Photo
	index   map[ID]int
	paths   map[string]int
	x       *rows
	refit   refitState
	photo   PhotoCounts
	groups  grouping
	typical typical

	revision int
	orders   map[string]order // of this revision
}

// A refitState describes the last fit.
type refitState struct {
	running  bool
	seq, n   int // last line and number of examples that it knew
	duration time.Duration
	err      error
}

// PhotoCounts tells how far a folder was read.
type PhotoCounts struct {
	Found, Failed int
	Scanning      bool
}

// Open opens the session of a model, and begins to fit it to its journal in the
// background. The error wraps ErrInUse if another process has it.
func Open(o Options) (*Session, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Changed == nil {
		o.Changed = func(string) {}
	}
	j, err := OpenJournal(o.Model + journalSuffix)
	if err != nil {
		return nil, err
	}
	s := &Session{options: o, journal: j, index: map[ID]int{}, paths: map[string]int{}, learned: map[ID][]string{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := 0
	for _, l := range j.Lines() {
		if l.Do == Refit || l.Do == Save {
			last = l.Seq
		}
	}
	if last > 0 {
		s.launch(last)
	} else {
		s.refitIfDue()
	}
	return s, nil
}

func (s *Session) open() (err error) {
	file := s.options.Model + baseSuffix
	if len(s.journal.Lines()) == 0 {
		err = s.begin(file)
	} else {
		err = s.resume(file)
	}
	if err != nil {
		return err
	}
	for _, sample := range s.base.samples {
		s.learned[ID(sample.Content)] = append(s.learned[ID(sample.Content)], sample.Class)
	}
	s.state = fold(s.journal.Lines())
	s.x, err = newRows(s.options.Temp, s.options.Dim)
	return err
}

// begin writes the base model and the first line of the journal.
func (s *Session) begin(file string) error {
	m, err := model.Load(s.options.Model)
	was := ""
	switch {
	case err == nil:
		was = m.SHA256()
	case errors.Is(err, fs.ErrNotExist) && s.options.Fresh != nil:
		m = s.options.Fresh
	default:
		return err
	}
	m.DropPrevious = true
	if err := m.Save(file); err != nil {
		return err
	}
	if s.base, err = openBase(file, s.options.Backend); err != nil {
		return err
	}
	_, err = s.journal.Append(Line{Time: s.options.Now(), Do: Start, Model: s.base.model.SHA256(), Was: was})
	return err
}

// resume checks that the base model and MODEL belong to the journal.
func (s *Session) resume(file string) (err error) {
	lines := s.journal.Lines()
	if s.base, err = openBase(file, s.options.Backend); err != nil {
		return fmt.Errorf("the journal needs the model that it starts from: %w", err)
	}
	if have := s.base.model.SHA256(); have != lines[0].Model {
		return fmt.Errorf("%s is not the model that the journal %s starts from (SHA-256 %.12s…, not %.12s…): restore it from a copy", file, s.journal.path, have, lines[0].Model)
	}
	known := map[string]bool{lines[0].Model: true, lines[0].Was: true}
	saving := false // killed between writing the file and the line that says so
	for _, l := range lines {
		switch l.Do {
		case Save:
			saving = true
		case Saved:
			known[l.Model], saving = true, false
		}
	}
	m, err := model.Load(s.options.Model)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !known[m.SHA256()] && !saving:
		return fmt.Errorf("another command changed %s since it was served: to teach that model, move %s and %s away; to go on with the journal, move %[1]s away",
			s.options.Model, s.journal.path, file)
	}
	return nil
}

// Close ends background work and frees the journal. It does not save the model.
func (s *Session) Close() error {
	s.cancel()
	s.working.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	err := errors.Join(s.journal.Close(), s.x.close())
	if s.scores != nil {
		err = errors.Join(err, s.scores.phi.close())
	}
	return err
}

// Wait waits for the end of background work.
func (s *Session) Wait() { s.working.Wait() }

// Dropped says what was missing at the end of the journal; "" for nothing.
func (s *Session) Dropped() string { return s.journal.Dropped }

// Base returns the model that the journal starts from; the caller must not change it.
func (s *Session) Base() *model.Model { return s.base.model }

// touch marks a change; the caller holds mu.
func (s *Session) touch() {
	s.revision++
	s.orders = map[string]order{}
}

// Found sets what is known about the folder.
func (s *Session) Found(c PhotoCounts) {
	s.mu.Lock()
	s.photo = c
	s.mu.Unlock()
	s.options.Changed("status")
}

// Add adds photos with their embeddings. A path that is known for another content
// gets the new one.
func (s *Session) Add(photos []Photo, vectors [][]float32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := len(s.photos)
	var data []float32
	for i, p := range photos {
		if len(vectors[i]) != s.options.Dim {
			return fmt.Errorf("%s: its embedding has %d values, not %d", p.Path, len(vectors[i]), s.options.Dim)
		}
		if at, ok := s.paths[p.Path]; ok {
			if s.photos[at].ID == p.ID {
				continue
			}
			s.detach(p.Path)
		}
		if at, ok := s.index[p.ID]; ok {
			s.attach(at, p)
			continue
		}
		s.index[p.ID], s.paths[p.Path] = len(s.photos), len(s.photos)
		p.Copies = 0
		s.photos = append(s.photos, p)
		data = append(data, vectors[i]...)
	}
	s.touch()
	if len(data) == 0 {
		return nil
	}
	if err := s.x.write(first, data); err != nil {
		return err
	}
	if s.scores == nil {
		return nil
	}
	return s.extendScores(s.ctx, s.live, s.scores)
}

// attach adds another path of a photo.
func (s *Session) attach(at int, p Photo) {
	s.paths[p.Path] = at
	if s.photos[at].Path == "" {
		p.Copies = 0
		s.photos[at] = p
	} else {
		s.photos[at].Copies++
	}
}

// detach removes a path; a photo without one is no longer listed.
func (s *Session) detach(path string) {
	at := s.paths[path]
	delete(s.paths, path)
	p := &s.photos[at]
	if p.Path != path {
		p.Copies--
		return
	}
	p.Path = ""
	if p.Copies == 0 {
		return
	}
	p.Copies--
	for other, i := range s.paths { // rare
		if i == at && (p.Path == "" || other < p.Path) {
			p.Path = other
		}
	}
}

// Remove removes files that are gone.
func (s *Session) Remove(paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range paths {
		if _, ok := s.paths[path]; ok {
			s.detach(path)
		}
	}
	s.touch()
}

// extendScores scores the photos that sc lacks.
func (s *Session) extendScores(ctx context.Context, l *live, sc *scores) error {
	first, last := sc.len(), len(s.photos)
	return s.scoreRange(ctx, l, sc, first, last)
}

func (s *Session) scoreRange(ctx context.Context, l *live, sc *scores, first, last int) error {
	sc.resize(last)
	err := sc.features(ctx, l, s.x, first, last)
	if err == nil {
		err = sc.score(ctx, l, s.x, first, last, dense.Range(0, len(sc.classes)))
	}
	sc.summarise(first, last)
	return err
}

// A Decision is what a person decides.
type Decision struct {
	Do        Do // Label, Unlabel, Rename or Merge
	Images    []ID
	Class, To string
}

// Do makes a decision. When it returns, the decision is on disk, and a model that
// can follow has learned it. A *Refusal says why it was not made.
func (s *Session) Do(d Decision) (Line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := Line{Do: d.Do, Images: unique(d.Images), Class: strings.TrimSpace(d.Class), To: strings.TrimSpace(d.To)}
	if err := s.check(l); err != nil {
		return Line{}, err
	}
	if l.Do == Label && len(l.Images) == 1 && s.scores != nil {
		if at, ok := s.index[l.Images[0]]; ok && at < s.scores.len() && !s.knows(l.Images[0]) {
			l.Was, l.P = s.scores.classes[s.scores.first[at]], float64(s.scores.prob[at])
		}
	}
	return s.commit(l)
}

// Teach learns photos that need not lie in the folder, given their embeddings.
func (s *Session) Teach(images []ID, vectors [][]float32, class string) (Line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := Line{Do: Learn, Class: strings.TrimSpace(class)}
	if err := checkName(l.Class); err != nil {
		return Line{}, err
	}
	for i, id := range images {
		if slices.Contains(l.Images, id) {
			continue
		}
		if len(vectors[i]) != s.options.Dim {
			return Line{}, fmt.Errorf("learn %s: its embedding has %d values, not %d", id, len(vectors[i]), s.options.Dim)
		}
		l.Images = append(l.Images, id)
		if s.row(id) == nil {
			l.embed(id, vectors[i])
		}
	}
	if err := s.checkForgets(l); err != nil {
		return Line{}, err
	}
	return s.commit(l)
}

// knows reports whether a photo has a decision or was learned.
func (s *Session) knows(id ID) bool {
	_, decided := s.state.marks[id]
	return decided || len(s.learned[id]) > 0
}

func unique(ids []ID) []ID {
	seen := make(map[ID]bool, len(ids))
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool {
		twice := seen[id]
		seen[id] = true
		return twice
	})
}

func checkName(name string) error {
	switch {
	case name == "":
		return refuse(Invalid, "the name of the class is empty")
	case len(name) > maxClassName:
		return refuse(Invalid, "the name of the class has %d bytes; the most is %d", len(name), maxClassName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return refuse(Invalid, "the name %q has characters that are not text", name)
	}
	return nil
}

// check returns a Refusal of a decision that cannot be made.
func (s *Session) check(l Line) error {
	switch l.Do {
	case Label, Unlabel:
		if len(l.Images) == 0 {
			return refuse(Invalid, "no photos are named")
		}
		if l.To != "" || l.Do == Unlabel && l.Class != "" {
			return refuse(Invalid, "%s takes images%s", l.Do, map[Do]string{Label: " and class"}[l.Do])
		}
		for _, id := range l.Images {
			if _, ok := s.index[id]; !ok && !s.knows(id) {
				return refuse(Unknown, "there is no photo %s", id)
			}
		}
		if l.Do == Unlabel {
			if !slices.ContainsFunc(l.Images, func(id ID) bool { _, ok := s.state.marks[id]; return ok }) {
				return refuse(Conflict, "none of these photos has a label that was decided here")
			}
			return nil
		}
		if err := checkName(l.Class); err != nil {
			return err
		}
		return s.checkForgets(l)
	case Rename, Merge:
		return s.checkRename(l)
	}
	return refuse(Invalid, "do is %q: choose label, unlabel, rename or merge", l.Do)
}

// checkForgets refuses to correct what the base model cannot unlearn.
func (s *Session) checkForgets(l Line) error {
	if s.base.complete || s.base.forgets() {
		return nil
	}
	for _, id := range l.Images {
		for _, class := range s.learned[id] {
			if s.state.name(class) != l.Class {
				return refuse(Conflict, "the model learned photo %s as %s, and %s models that do not keep their embeddings cannot unlearn a single photo: correct the folder and train again", id, class, s.base.model.Method)
			}
		}
	}
	return nil
}

func (s *Session) checkRename(l Line) error {
	if err := errors.Join(checkName(l.Class), checkName(l.To)); err != nil {
		return refuse(Invalid, "%s needs class and to: %s", l.Do, err)
	}
	if len(l.Images) > 0 {
		return refuse(Invalid, "%s takes class and to", l.Do)
	}
	names := s.names()
	switch there := slices.Contains(names, l.To); {
	case !slices.Contains(names, l.Class):
		return refuse(Unknown, "there is no class %q", l.Class)
	case l.Class == l.To:
		return refuse(Conflict, "the class is called %q already", l.To)
	case l.Do == Rename && there:
		return refuse(Conflict, "there is a class %q already: merge the two, or choose another name", l.To)
	case l.Do == Merge && !there:
		return refuse(Unknown, "there is no class %q to merge with: rename it", l.To)
	}
	if !s.base.complete {
		for _, sample := range s.base.samples {
			if now := s.state.name(sample.Class); now == l.Class {
				return refuse(Conflict, "the model was trained on %s and does not keep the embeddings: rename its folder and train again", l.Class)
			}
		}
	}
	return nil
}

// names returns the classes that any photo or the base model has, sorted.
func (s *Session) names() []string {
	all := map[string]bool{}
	for _, c := range s.base.model.Classes() {
		all[s.state.name(c)] = true
	}
	for _, m := range s.state.marks {
		all[m.class] = true
	}
	return sortedKeys(all)
}

// row returns the stored embedding of a photo; nil for none.
func (s *Session) row(id ID) []float32 {
	if x := s.base.rows[id]; x != nil {
		return x
	}
	return s.journal.Embedding(id)
}

// commit writes a line, and brings the model up to date; the caller holds mu.
func (s *Session) commit(l Line) (Line, error) {
	if l.Do == Label {
		for _, id := range l.Images {
			at, ok := s.index[id]
			if !ok || s.row(id) != nil {
				continue
			}
			x, err := s.x.read(at, at+1, nil)
			if err != nil {
				return l, err
			}
			l.embed(id, x.Data)
		}
	}
	l.Time = s.options.Now()
	l, err := s.journal.Append(l)
	if err != nil {
		return l, err
	}
	s.state.take(l)
	s.touch()
	s.follow()
	s.refitIfDue()
	go s.options.Changed("change")
	return l, nil
}

// follow brings the live model and the scores up to date with the state.
func (s *Session) follow() {
	if s.live == nil {
		return
	}
	want := s.state.examples(s.base.samples)
	s.rescore(s.live, s.scores, s.live.follow(want, s.row))
}

// rescore scores the changed classes anew.
func (s *Session) rescore(l *live, sc *scores, changed map[string]bool) {
	if l.stale || len(changed) == 0 {
		return
	}
	sc.arrange(l.Classes())
	var columns []int
	for c, name := range sc.classes {
		if changed[name] {
			columns = append(columns, c)
		}
	}
	if err := sc.score(s.ctx, l, s.x, 0, sc.len(), columns); err != nil {
		l.stale = true
	}
	sc.summarise(0, sc.len())
}

// Undo takes back the last decision that is in force.
func (s *Session) Undo() (Line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.state.done) == 0 {
		return Line{}, refuse(Conflict, "there is nothing to undo")
	}
	return s.commit(Line{Do: Undo, Of: s.state.done[len(s.state.done)-1].Seq})
}

// Redo takes back the last Undo.
func (s *Session) Redo() (Line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.state.undone) == 0 {
		return Line{}, refuse(Conflict, "there is nothing to redo")
	}
	return s.commit(Line{Do: Redo, Of: s.state.undone[len(s.state.undone)-1].Seq})
}

// An Acceptance is what accepting predictions does.
type Acceptance struct {
	Images int
	// Precision is the mean of the probabilities.
	Precision float64
	// Checked predictions of at least that probability were looked at by a person,
	// who found Correct of them right.
	Checked, Correct int
}

// acceptable returns the photos without a label that are predicted with at least a
// probability, of a class unless that is "".
func (s *Session) acceptable(above float64, class string) (images []ID, classes []string, precision float64) {
	if s.scores == nil {
		return nil, nil, 0
	}
	for i, p := range s.photos[:s.scores.len()] {
		predicted, prob := s.scores.classes[s.scores.first[i]], float64(s.scores.prob[i])
		if label, _ := s.label(i); p.Path == "" || label != "" || prob < above || class != "" && predicted != class {
			continue
		}
		images, classes, precision = append(images, p.ID), append(classes, predicted), precision+prob
	}
	return images, classes, precision / math.Max(1, float64(len(images)))
}

// Acceptable tells what Accept would do.
func (s *Session) Acceptable(above float64, class string) Acceptance {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var a Acceptance
	images, _, precision := s.acceptable(above, class)
	a.Images, a.Precision = len(images), precision
	for _, l := range s.state.done {
		if l.Was != "" && l.P >= above && (class == "" || l.Was == class) {
			a.Checked++
			if l.Was == l.Class {
				a.Correct++
			}
		}
	}
	return a
}

// Accept labels every photo without a label whose most probable class has at least a
// probability; class "" is any.
func (s *Session) Accept(above float64, class string) (Line, error) {
	if !(above >= 0 && above <= 1) {
		return Line{}, refuse(Invalid, "above is %v: it is a probability from 0 to 1", above)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	images, classes, _ := s.acceptable(above, class)
	if len(images) == 0 {
		return Line{}, refuse(Conflict, "no photo without a label is predicted with that probability")
	}
	return s.commit(Line{Do: Accept, Images: images, Classes: classes, Class: class})
}

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

// label returns the label of photo i and who gave it; "" for none.
func (s *Session) label(i int) (string, By) {
	p := s.photos[i]
	if m, ok := s.state.marks[p.ID]; ok {
		return m.class, m.by
	}
	if classes := s.learned[p.ID]; len(classes) > 0 {
		return s.state.name(classes[0]), Folder
	}
	if p.Class != "" && s.base.classes[p.Class] {
		return s.state.name(p.Class), Folder
	}
	return "", ""
}

// folderOf returns the folder of a path, "" for the top.
func folderOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// nameOf returns the last element of a path.
func nameOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// FileOf returns the path of a photo below the folder, with its exact bytes.
func (s *Session) FileOf(id ID) (string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, ok := s.index[id]
	if !ok || s.photos[at].Path == "" {
		return "", false
	}
	return dataset.UnescapePath(s.photos[at].Path), true
}

// StartFile returns the file of the model that a session of MODEL starts from: its
// base if there is a journal, otherwise MODEL itself.
func StartFile(file string) string {
	if _, err := os.Stat(file + baseSuffix); err == nil {
		return file + baseSuffix
	}
	return file
}
