package account

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// An Expected is the share of labels that is right, as far as models tell that have not learned the photos.
type Expected struct {
	// Accuracy is the share of the labels that the model gives, whatever the photos show; it lies from Low to High for
	// 19 of 20 folders. OfAll counts the photos that it calls unknown, too, which is right of those of no class.
	Accuracy *float64 `json:"accuracy"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	OfAll    *float64 `json:"of_all"`
	// RestsOn says from what this is known, and Reason why it is not.
	RestsOn string `json:"rests_on"`
	Reason  string `json:"reason,omitempty"`
	*Learning
}

// set sets the share and its interval.
func (e *Expected) set(share, low, high float64) {
	share, low, high = within(share, low, high)
	e.Accuracy, e.Low, e.High = &share, &low, &high
}

// How photos of classes that nobody has named are looked for: their share may be any in steps of newStep. Before the
// novelty of the photos is known, it is 0 with a probability of noneNew, and otherwise has the density of
// Beta(1, newPower). How novelty tells new classes from known ones is itself known from few left-out photos, and
// a class may resemble others, so that all photos of a folder count as a part of those that were left out (evidence),
// and as mostEvidence at the most. docs/log/promises.md has what other values give.
const (
	newSteps     = 76
	newStep      = 0.0125
	noneNew      = 0.5
	newPower     = 4
	evidence     = 0.2
	mostEvidence = 12
	// modest is by how much probabilities may be too low, at the most in 19 of 20 folders: a few wrong labels among
	// those that were learned make a temperature too high.
	modest = 0.15
	// someNew is the share that there may be where novelty tells nothing.
	someNew = 0.25
)

// The log odds that a photo is of a new class are counted in bins.
const (
	bins    = 600
	widest  = 30 // nats
	binSize = 2.0 * widest / bins
)

// leastHeld is the number of left-out photos from which something is expected of others.
const leastHeld = 20

// A bin sums photos about as novel: those with a label, their probabilities, and those called unknown.
type bin struct{ labelled, sure, unknown float64 }

// A folder is what is summed of photos to expect how many of their labels are right.
type folder struct {
	known    calibration.Folder
	held     calibration.Calibration
	bins     []bin
	sure     float64
	variance float64
}

func newFolder(held calibration.Calibration) folder {
	return folder{known: calibration.NewFolder(held), held: held, bins: make([]bin, bins+1)}
}

// add adds a label's probability and the novelty of its photo.
func (f *folder) add(p, novelty float64, unknown bool) {
	b := &f.bins[0]
	if u := f.held.Unseen; u != nil {
		logit := u.Offset + u.Slope*novelty + u.Bend*math.Abs(novelty-u.Middle)
		if logit > -widest { // NaN is not
			b = &f.bins[int((min(logit, widest)+widest)/binSize)]
		}
	}
	if unknown {
		b.unknown++
		return
	}
	b.labelled++
	b.sure += p
	f.sure += p
	f.variance += p * (1 - p)
	f.known.Add(p, novelty)
}

// expected returns what to expect of the labels, nil if there are none.
func (f *folder) expected() *Expected {
	if f.known.N == 0 {
		return nil
	}
	e := &Expected{RestsOn: fmt.Sprintf("the probabilities of %d photos, calibrated on %d that were left out",
		f.known.N, f.held.Samples)}
	share, low, high, ok := f.known.Expect()
	if !ok || f.held.Samples < leastHeld {
		e.RestsOn, e.Reason = "", fmt.Sprintf("fewer than %d photos can be left out", leastHeld)
		return e
	}
	if f.held.Unseen == nil {
		e.set(share, low*(1-someNew), high)
		e.RestsOn += "; nothing tells photos of other classes"
		return e
	}
	answers, right, all := f.mixtures(share - f.sure/float64(f.known.N))
	at := func(q float64) float64 { return right[quantile(answers, q)] }
	mean, ofAll, spread := dense.Dot(answers, right), dense.Dot(answers, all), max(share-low, high-share)
	e.set(mean, mean-math.Hypot(mean-at(0.975), spread), mean+math.Hypot(at(0.025)-mean, math.Hypot(spread, modest)))
	e.OfAll = new(min(ofAll, most))
	return e
}

// scale is by how much an accuracy exceeds the mean probability of the labels.
func (f *folder) scale(accuracy float64) float64 {
	if f.sure == 0 {
		return 1
	}
	return accuracy * float64(f.known.N) / f.sure
}

// mixtures returns how probable each share of photos of new classes is, and the share of right labels, and of
// right answers, that follows. The probability of a label is too low by some amount.
func (f *folder) mixtures(understated float64) (probable, right, all []float64) {
	probable, right, all = make([]float64, newSteps+1), make([]float64, newSteps+1), make([]float64, newSteps+1)
	n := 0.0
	for _, b := range f.bins {
		n += b.labelled + b.unknown
	}
	odds := make([]float64, len(f.bins)) // of being new against known, in the middle of each bin
	for i := range odds {
		odds[i] = math.Exp(float64(i)*binSize - widest + binSize/2)
	}
	weight := min(1, evidence*float64(f.held.Samples)/n, mostEvidence/n)
	for k := range probable {
		share := float64(k) * newStep
		log, labels, unknown := 0.0, 0.0, 0.0
		for i, b := range f.bins {
			if b.labelled+b.unknown == 0 {
				continue
			}
			either := 1 - share + share*odds[i]
			log += (b.labelled + b.unknown) * math.Log(either)
			fresh := share * odds[i] / either
			labels += (b.sure + understated*b.labelled) * (1 - fresh)
			unknown += b.unknown * fresh
		}
		right[k], all[k] = labels/float64(f.known.N), (labels+unknown)/n
		before := noneNew
		if k > 0 {
			before = (1 - noneNew) * newPower * math.Pow(1-share, newPower-1) / newSteps
		}
		probable[k] = weight*log + math.Log(before)
	}
	classifier.LogSoftmax(probable)
	for k, v := range probable {
		probable[k] = math.Exp(v)
	}
	return probable, right, all
}

// quantile returns the place up to which probabilities come to q.
func quantile(p []float64, q float64) int {
	for i, v := range p {
		if q -= v; q <= 0 {
			return i
		}
	}
	return len(p) - 1
}
