package serve

import (
	"net/http"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model/account"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
	"github.com/seed-90d10d51/pipeline/teach"
)

// The types of this file are the schemas of openapi.yaml.

type ranked struct {
	Class       string  `json:"class"`
	Probability float64 `json:"probability"`
}

func ranking(top []classifier.Ranked) []ranked {
	out := make([]ranked, len(top))
	for i, r := range top {
		out[i] = ranked{r.Label, min(r.Probability, 1)}
	}
	return out
}

type labelled struct {
	ID          teach.ID `json:"id"`
	Name        string   `json:"name"`
	Label       string   `json:"label"`
	Probability float64  `json:"probability"`
	Top         []ranked `json:"top"`
	Novelty     float64  `json:"novelty"`
	Unknown     bool     `json:"unknown"`
	New         *float64 `json:"p_new"`
}

type embedded struct {
	ID        teach.ID  `json:"id"`
	Name      string    `json:"name"`
	Embedding []float32 `json:"embedding"`
}

// served is a model that requests may ask.
type served struct {
	Name    string   `json:"name"`
	Method  string   `json:"method"`
	Classes []string `json:"classes"`
}

// unread is the entry of a photo of a form that cannot be used.
type unread struct {
	ID    teach.ID `json:"id"`
	Name  string   `json:"name"`
	Error string   `json:"error"`
}

func newUnread(photo sent, item pixels.Item) unread {
	return unread{teach.ID(item.Hash), photo.name, item.Err.Error()}
}

type image struct {
	ID         teach.ID  `json:"id"`
	Name       string    `json:"name"`
	Folder     string    `json:"folder"`
	Changed    time.Time `json:"changed"`
	Label      *string   `json:"label"`
	By         *label.By `json:"by"`
	Labels     []string  `json:"labels"`
	Rather     *string   `json:"rather"`
	Prediction []ranked  `json:"prediction"`
	Novelty    *float64  `json:"novelty"`
	Unknown    bool      `json:"unknown"`
	Group      *int      `json:"group"`
	Copies     int       `json:"copies"`
	Shot       *taken    `json:"shot"`
	Box        *box      `json:"box"`
	Event      *event    `json:"event"`
	Settles    *float64  `json:"settles"`
}

// event is what an image stands for, if that is an event.
type event struct {
	Photos  int      `json:"photos"`
	Size    int      `json:"size"`
	Open    int      `json:"open"`
	Classes []string `json:"classes"`
	Best    teach.ID `json:"best"`
	End     *string  `json:"end"`
}

func newEvent(e *teach.Event) *event {
	if e == nil {
		return nil
	}
	out := &event{e.Photos, e.Size, e.Open, append([]string{}, e.Classes...), e.Best, nil}
	if last := newTaken(e.Last.Shot); last != nil {
		out.End = last.Time
	}
	return out
}

// box is a rectangle on the upright photo, in shares of its width and height.
type box struct {
	Number     int     `json:"number"`
	X          float64 `json:"x"`
	Y          float64 `json:"y"`
	W          float64 `json:"w"`
	H          float64 `json:"h"`
	Category   string  `json:"category"`
	Confidence float64 `json:"confidence"`
}

func newBox(b *dataset.Box) *box {
	if b == nil {
		return nil
	}
	return &box{b.Number, b.X, b.Y, b.W, b.H, b.Category, b.Confidence}
}

// taken is what a photo says of itself.
type taken struct {
	Time   *string `json:"time"`
	Camera *string `json:"camera"`
	Place  *place  `json:"place"`
}

type place struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// newTaken returns nil if nobody has looked.
func newTaken(shot *photometa.Shot) *taken {
	if shot == nil {
		return nil
	}
	out := &taken{Camera: unlessZero(strings.TrimSpace(shot.Camera + " " + shot.Serial))}
	if !shot.Time.IsZero() {
		layout := "2006-01-02T15:04:05.999"
		if shot.Zoned {
			layout += "Z07:00"
		}
		out.Time = new(shot.Time.Format(layout))
	}
	if shot.Placed {
		out.Place = &place{shot.Latitude, shot.Longitude}
	}
	return out
}

func newImage(it teach.Item) image {
	out := image{
		ID: it.ID, Name: it.Path, Changed: it.Changed.UTC(), Prediction: ranking(it.Top), Unknown: it.Unknown,
		Copies: it.Copies, Labels: append([]string{}, it.Labels...),
		Shot: newTaken(it.Shot), Box: newBox(it.Box), Event: newEvent(it.Event),
		Label: unlessZero(it.Label), By: unlessZero(it.By), Rather: unlessZero(it.Rather), Group: unlessZero(it.Group),
	}
	if i := strings.LastIndexByte(it.Path, '/'); i >= 0 {
		out.Folder, out.Name = it.Path[:i], it.Path[i+1:]
	}
	out.Settles = unlessZero(it.Settles)
	if it.Top != nil {
		out.Novelty = &it.Novelty
	}
	return out
}

// unlessZero returns nil, JSON's null, for the zero value.
func unlessZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func newImages(items []teach.Item) []image {
	out := make([]image, len(items))
	for i, it := range items {
		out[i] = newImage(it)
	}
	return out
}

func writeNear(w http.ResponseWriter, near []teach.Neighbour) error {
	type neighbour struct {
		Image      image   `json:"image"`
		Similarity float64 `json:"similarity"`
	}
	out := make([]neighbour, len(near))
	for i, n := range near {
		out[i] = neighbour{newImage(n.Item), n.Similarity}
	}
	writeJSON(w, http.StatusOK, map[string]any{"images": out})
	return nil
}

type step struct {
	Seq    int       `json:"seq"`
	Time   time.Time `json:"time"`
	Do     teach.Do  `json:"do"`
	Images int       `json:"images"`
	Class  *string   `json:"class"`
	To     *string   `json:"to"`
	Of     *int      `json:"of"`
	Undone bool      `json:"undone"`
	Text   string    `json:"text"`
}

func newStep(st teach.Step) step {
	return step{
		st.Seq, st.Time, st.Do, len(st.Images), unlessZero(st.Class), unlessZero(st.To), unlessZero(st.Of), st.Undone,
		teach.Describe(st.Line),
	}
}

type point struct {
	Seq       int       `json:"seq"`
	Time      time.Time `json:"time"`
	Saved     bool      `json:"saved"`
	Decisions int       `json:"decisions"`
	Labels    int       `json:"labels"`
	New       []string  `json:"new"`
	Gone      []string  `json:"gone"`
}

func newPoint(p teach.Point) point {
	return point{p.Seq, p.Time, p.Do == teach.Save, p.Decisions, p.Labels, append([]string{}, p.New...),
		append([]string{}, p.Gone...)}
}

// boxedPhotos tells how the photos and a file of boxes fit.
type boxedPhotos struct {
	Photos   int `json:"photos"`
	Boxes    int `json:"boxes"`
	Empty    int `json:"empty"`
	Unlisted int `json:"unlisted"`
}

func (s *Server) boxedPhotos() *boxedPhotos {
	if s.Boxed == nil {
		return nil
	}
	found := s.Boxed()
	return &boxedPhotos{len(found.Photos), found.Boxes, found.Empty(), found.Unlisted.N}
}

type statusAnswer struct {
	Number   int     `json:"number"`
	Revision int     `json:"revision"`
	Seq      int     `json:"seq"`
	Title    string  `json:"title"`
	Start    *string `json:"start"`
	Problem  *string `json:"problem"`
	MayQuit  bool    `json:"may_quit"`
	Model    struct {
		Name    string `json:"name"`
		Method  string `json:"method"`
		Ready   bool   `json:"ready"`
		Unsaved int    `json:"unsaved"`
		Saving  bool   `json:"saving"`
		Instant bool   `json:"instant"`
	} `json:"model"`
	Images struct {
		Found    int `json:"found"`
		Embedded int `json:"embedded"`
		// Seen photos have said when and where they were taken.
		Seen     int  `json:"seen"`
		Failed   int  `json:"failed"`
		Scanning bool `json:"scanning"`
		// Unread says why the folder cannot be read now.
		Unread *string `json:"unread"`
	} `json:"images"`
	Classes int          `json:"classes"`
	Boxes   *boxedPhotos `json:"boxes"`
	// Account counts the photos, and Told says it in words, a line for each fact. Brief is what to know before anybody
	// decides.
	Account     account.Account `json:"account"`
	Told        []string        `json:"told"`
	Brief       []string        `json:"brief"`
	NoThreshold bool            `json:"no_threshold"`
	// Words says that photos can be searched for by words.
	Words bool `json:"words"`
	// Events says that photos can be listed by events.
	Events bool `json:"events"`
	Refit  struct {
		Running bool     `json:"running"`
		Seq     int      `json:"seq"`
		Seconds *float64 `json:"seconds"`
	} `json:"refit"`
	// Arranging is the share of the work on the map and near-duplicates that is done.
	Arranging *float64 `json:"arranging"`
	Undo      *string  `json:"undo"`
	Redo      *string  `json:"redo"`
}

// newStatus returns the present status. A client that has a later one already, by its
// number, knows that this one is out of date.
func (s *Server) newStatus() (a statusAnswer) {
	s.statuses.Lock()
	defer s.statuses.Unlock()
	s.statuses.n++
	a.Number = s.statuses.n
	st := s.Session.Status()
	a.Revision, a.Seq, a.Title, a.Classes = st.Revision, st.Seq, s.Title, st.Classes
	a.Start, a.Problem, a.MayQuit = unlessZero(s.Start), problem(st), s.Quit != nil
	a.Model.Name, a.Model.Method, a.Model.Ready, a.Model.Instant = s.Name, st.Method, st.Ready, st.Instant
	a.Model.Unsaved, a.Model.Saving = st.Unsaved, st.Saving
	a.Images.Found, a.Images.Embedded, a.Images.Failed, a.Images.Scanning = st.Photos.Found, st.Embedded,
		st.Photos.Failed, st.Photos.Scanning
	a.Images.Seen = st.Seen
	if st.Arranging {
		a.Arranging = &st.Arranged
	}
	a.Images.Unread = s.unread.Load()
	a.Boxes, a.NoThreshold = s.boxedPhotos(), st.NoThreshold
	a.Account, a.Told = st.Account, st.Account.Lines()
	a.Brief = append([]string{}, st.Account.Brief()...)
	if st.Trained != "" {
		a.Brief = append([]string{st.Trained}, a.Brief...)
	}
	a.Words, a.Events = s.Options.Words != nil, s.Options.Events
	a.Refit.Running, a.Refit.Seq, a.Refit.Seconds = st.Refitting, st.RefitSeq, unlessZero(st.RefitSeconds)
	a.Undo, a.Redo = unlessZero(st.Undo), unlessZero(st.Redo)
	return a
}

// problem says what has to be mended before everything is kept, nil for nothing.
func problem(st teach.Status) *string {
	switch {
	case st.Lost != nil:
		return new(textOf(st.Lost, http.StatusOK))
	case st.Unkept != nil:
		return new(textOf(st.Unkept, http.StatusOK))
	case st.NotSaved != nil:
		return new("the model is not saved: " + textOf(st.NotSaved, http.StatusOK))
	}
	return nil
}
