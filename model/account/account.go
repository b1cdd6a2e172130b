package account

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
)

// An Account is what is known of some photos. Shares are from 0 to 1, and what is not known is nil.
type Account struct {
	// Photos counts all files. They are decided, set aside, unreadable (Failed), copies of another, labelled by the
	// model alone, or waiting: not read yet, or there is no model.
	Photos   int      `json:"photos"`
	Decided  Decided  `json:"decided"`
	SetAside SetAside `json:"set_aside"`
	Failed   int      `json:"failed"`
	Copies   int      `json:"copies"`
	Waiting  int      `json:"waiting"`
	Model    int      `json:"model"`
	// Unknown photos are among those of the model: they look like no class.
	Unknown  int       `json:"unknown"`
	Expected *Expected `json:"expected"`
	Measured *Measured `json:"measured"`
	Wrong    *Wrong    `json:"wrong_labels"`
	Classes  []Class   `json:"classes"`
	Next     Step      `json:"next"`
}

// Decided counts the photos of which people, or a detector, gave the class.
type Decided struct {
	Person   int `json:"person"` // one by one
	Bulk     int `json:"bulk"`   // by accepting what the model said of many
	List     int `json:"list"`   // by a folder or list that was learned
	Detector int `json:"detector"`
}

// Total is the sum of all.
func (d Decided) Total() int { return d.Person + d.Bulk + d.List + d.Detector }

// SetAside counts the photos that have no class because somebody said so.
type SetAside struct {
	Unusable int `json:"unusable"`
	Several  int `json:"several"` // they show several things
	Later    int `json:"later"`
}

// Total is the sum of all.
func (s SetAside) Total() int { return s.Unusable + s.Several + s.Later }

// Measured is the share right of photos that were drawn at random and then decided one by one.
type Measured struct {
	Accuracy float64 `json:"accuracy"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	N        int     `json:"n"`
	// Above is the least probability of the photos from which was drawn, 0 for all that the model labels.
	Above float64 `json:"above"`
}

// Measure returns what k of n photos that were drawn at random tell, nil if n is 0.
func Measure(k, n int, above float64) *Measured {
	if n == 0 {
		return nil
	}
	low, high := calibration.Interval(k, n)
	return &Measured{float64(k) / float64(n), low, high, n, above}
}

// A Class is what is known of a class.
type Class struct {
	Class string `json:"class"`
	// Decided photos have it by a decision, Labelled ones by the model alone. Expected of these are right.
	Decided  int      `json:"decided"`
	Labelled int      `json:"labelled"`
	Expected *float64 `json:"expected"`
	// TakenFor is the class as which its left-out photos were named most often, if any: Times of Of, which means
	// Low to High of all its photos.
	TakenFor *string `json:"taken_for"`
	Times    int     `json:"times"`
	Of       int     `json:"of"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// A Who says who gave a photo its class, or set it aside.
type Who int

// Who decides.
const (
	Person Who = iota
	Bulk
	List
	Detector
	Unusable
	Several
	Later
)

// A Tally makes an account, photo by photo. Its cost is that of a few additions per photo.
type Tally struct {
	account Account
	held    calibration.Calibration
	folder  folder
	prob    []float64 // the sum of the probabilities of the labels of each class
	sure    int       // labels of SureEnough or more
	at      map[string]int
	doubts  Doubts
}

// NewTally returns a tally of photos that a model labels which was calibrated, with the model's classes.
func NewTally(held calibration.Calibration, classes []string) *Tally {
	t := &Tally{held: held, folder: newFolder(held), at: make(map[string]int, len(classes))}
	for _, name := range classes {
		t.Column(name)
	}
	return t
}

// Column returns the place of a class among those of the account.
func (t *Tally) Column(name string) int {
	at, ok := t.at[name]
	if !ok {
		at = len(t.account.Classes)
		t.at[name] = at
		t.account.Classes, t.prob = append(t.account.Classes, Class{Class: name}), append(t.prob, 0)
	}
	return at
}

// Decide counts a photo that was decided; class is "" for one that was set aside.
func (t *Tally) Decide(who Who, class string) {
	d, s := &t.account.Decided, &t.account.SetAside
	*[]*int{&d.Person, &d.Bulk, &d.List, &d.Detector, &s.Unusable, &s.Several, &s.Later}[who]++
	if who < Detector {
		t.account.Classes[t.Column(class)].Decided++
	}
}

// Label counts a photo that the model alone gave the class in a column, with a probability; one that looks
// unknown has none.
func (t *Tally) Label(column int, p, novelty float64, unknown bool) {
	t.account.Model++
	t.folder.add(p, novelty, unknown)
	if unknown {
		t.account.Unknown++
		return
	}
	t.account.Classes[column].Labelled++
	t.prob[column] += p
	if p >= SureEnough {
		t.sure++
	}
}

// Rest counts photos that could not be read, copies of others, and those that wait.
func (t *Tally) Rest(failed, copies, waiting int) {
	t.account.Failed += failed
	t.account.Copies += copies
	t.account.Waiting += waiting
}

// Doubt says how probably labels are wrong that nobody has looked at.
func (t *Tally) Doubt(d Doubts) { t.doubts = d }

// Measure says what was measured, nil for nothing.
func (t *Tally) Measure(m *Measured) { t.account.Measured = m }

// Account returns the account in a situation.
func (t *Tally) Account(now Situation) Account {
	a := t.sum()
	a.Next = a.next(now, t.sure)
	return a
}

// sum returns the account without its next step.
func (t *Tally) sum() Account {
	a := t.account
	a.Photos = a.Decided.Total() + a.SetAside.Total() + a.Failed + a.Copies + a.Waiting + a.Model
	scale := 1.0
	a.Expected = t.folder.expected()
	if a.Expected != nil && a.Expected.Accuracy != nil {
		scale = t.folder.scale(*a.Expected.Accuracy)
	}
	a.Wrong = t.doubts.Wrong()
	a.Classes = append([]Class{}, a.Classes...)
	for i := range a.Classes {
		c := &a.Classes[i]
		c.confuse(t.held.Confusions)
		if a.Expected != nil && a.Expected.Accuracy != nil && c.Labelled > 0 {
			c.Expected = new(min(t.prob[i]/float64(c.Labelled)*scale, most))
		}
	}
	return a
}

// confuse finds what a class is taken for most often.
func (c *Class) confuse(all []calibration.Confusion) {
	for _, pair := range all {
		if pair.Class == c.Class && pair.Count > c.Times {
			c.TakenFor, c.Times, c.Of = &pair.As, pair.Count, pair.Of
		}
	}
	if c.Times > 0 {
		c.Low, c.High = calibration.Interval(c.Times, max(c.Of, c.Times))
	}
}

// Confused returns the classes that are taken for others, those first of which the interval begins
// highest.
func (a Account) Confused() []Class {
	all := slices.DeleteFunc(slices.Clone(a.Classes), func(c Class) bool { return c.TakenFor == nil })
	slices.SortStableFunc(all, func(b, c Class) int {
		return cmp.Or(cmp.Compare(c.Low, b.Low), cmp.Compare(c.Times, b.Times))
	})
	return all
}

// most is promised of labels at the most: that none is wrong only twenty random checks or more can say.
const most = 0.99

// within returns a share with the ends of its interval, all from 0 to 1, and not more than most.
func within(share, low, high float64) (a, b, c float64) {
	share = math.Max(0, math.Min(share, most))
	return share, math.Max(0, math.Min(low, share)), math.Min(1, math.Max(high, share))
}
