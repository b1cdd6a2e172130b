package split

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"80,20": "[train test]", "70,15,15": "[train validation test]",
		" 33.33, 33.33 ,33.34": "[train validation test]",
		"80":                   "1 shares", "80,10,5,5": "4 shares", "80,10": "add up to 90", "100,0": `"100"`,
		"120,-20": `"120"`,
		"a,b":     `"a"`, "": `""`, "NaN,20": `"NaN"`, "80,,20": `""`,
	} {
		s, err := Parse(text)
		got := fmt.Sprint(s.names())
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || err != nil && !strings.Contains(got, "such as 80,20") {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

const dim = 256

// photo number i of a class is a random point, like no other.
func photo(class string, i int) label.Scored {
	content := sha256.Sum256(fmt.Append(nil, class, i))
	rng := rand.New(rand.NewPCG(uint64(content[0])<<8|uint64(content[1]), uint64(content[2])<<8|uint64(content[3])))
	x := make([]float32, dim)
	for j := range x {
		x[j] = float32(rng.NormFloat64())
	}
	return label.Scored{Sample: dataset.Sample{Path: fmt.Sprintf("%s/%d.jpg", class, i)}, Content: content,
		Embedding: x, Prediction: classifier.Prediction{Label: class}}
}

// near is another photo of what a photo shows.
func near(s label.Scored, i int) label.Scored {
	other := photo(s.Sample.Path+" again", i)
	for j, v := range other.Embedding {
		other.Embedding[j] = s.Embedding[j] + v/100
	}
	other.Prediction = s.Prediction
	return other
}

func deal(t *testing.T, d *dealer, shares Shares, seed uint64, rows []label.Scored) *Plan {
	t.Helper()
	for _, r := range rows {
		must.Do(t, d.Put(r))
	}
	must.Do(t, d.Commit(embedding.Outcome{}))
	return d.plan(shares, seed)
}

func parts(p *Plan, rows []label.Scored) (names []string) {
	for _, r := range rows {
		names = append(names, p.Of(r.Content))
	}
	return names
}

// TestShares: of photos that are like no others, every class is divided to the nearest
// photo, by the seed and not by their order.
func TestShares(t *testing.T) {
	var rows []label.Scored
	size := map[string]int{"ant": 100, "bee": 37, "cat": 4, "dog": 1}
	for _, class := range []string{"ant", "bee", "cat", "dog"} {
		for i := range size[class] {
			rows = append(rows, photo(class, i))
		}
	}
	for _, shares := range []Shares{{80, 20}, {70, 15, 15}, {50, 50}} {
		plan := deal(t, newDealer(window), shares, 1, rows)
		got := map[string]float64{}
		for i, part := range parts(plan, rows) {
			got[rows[i].Prediction.Label+" "+part]++
		}
		for class, n := range size {
			for i, part := range shares.names() {
				if want := shares[i] / 100 * float64(n); math.Abs(got[class+" "+part]-want) > 1 {
					t.Errorf("%v: %v photos of %s in %s, want %g", shares, got[class+" "+part], class, part, want)
				}
			}
		}
		other := slices.Clone(rows)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		if again := deal(t, newDealer(window), shares, 1, other); !slices.Equal(parts(again, rows), parts(plan, rows)) {
			t.Errorf("%v: the order of the photos makes a difference", shares)
		}
		if again := deal(t, newDealer(window), shares, 2, rows); slices.Equal(parts(again, rows), parts(plan, rows)) {
			t.Errorf("%v: the seed makes no difference", shares)
		}
		if !strings.Contains(plan.String(), "train") {
			t.Error(plan)
		}
	}
}

// TestTogether: what belongs together is in one part, whatever its classes and however far
// apart it is found; like photos are within a window.
func TestTogether(t *testing.T) {
	for _, most := range []int{window, 50} {
		var rows []label.Scored
		same := map[int][]int{} // of a number: rows that belong together
		add := func(number int, r label.Scored) {
			same[number] = append(same[number], len(rows))
			rows = append(rows, r)
		}
		for i := range 40 {
			class := []string{"ant", "bee"}[i%2]
			first := photo(class, i)
			first.Event = &label.Event{Name: fmt.Sprint("event ", i/2)} // two classes
			add(i/2, first)
			add(i/2, near(first, 1)) // of no event
			add(i/2, near(first, 2))
			box := photo("box", i)
			for n := range 3 {
				b := &dataset.Box{Number: n + 1}
				box := box
				box.Sample = b.In(box.Sample)
				box.Content = sha256.Sum256(fmt.Append(nil, "box", i, n))
				box.Embedding = photo("box", 1000+10*i+n).Embedding
				add(1000+i, box)
			}
		}
		for i := range 20 { // copies at the end, in another folder and under another class
			other := rows[same[i][0]]
			other.Sample.Path, other.Event = fmt.Sprintf("copies/%d.jpg", i), nil
			other.Prediction.Label = "rejected"
			other.Rejected = true
			add(i, other)
		}
		plan := deal(t, newDealer(most), Shares{60, 40}, 3, rows)
		got := parts(plan, rows)
		for number, of := range same {
			for _, i := range of {
				if most == window && got[i] != got[of[0]] {
					t.Errorf("group %d: %s is in %s, %s in %s", number, rows[of[0]].Sample.Path, got[of[0]],
						rows[i].Sample.Path, got[i])
				}
			}
			if last := of[len(of)-1]; most < window && got[last] != got[of[0]] { // a copy, a box
				t.Errorf("group %d is in two parts with a window of %d", number, most)
			}
		}
		if n := plan.photos[0] + plan.photos[1]; n != len(rows) {
			t.Errorf("%d photos of %d are dealt", n, len(rows))
		}
		if share := float64(plan.photos[0]) / float64(len(rows)); math.Abs(share-0.6) > 0.1 {
			t.Errorf("window %d: %.2f of the photos are in train: %v", most, share, plan)
		}
	}
}

// TestWhole: a class whose photos are all alike is in one part, and that is said; a file
// that is not known is in the first.
func TestWhole(t *testing.T) {
	first := photo("shelf", 1)
	rows := []label.Scored{first, first, first, photo("bee", 1), photo("bee", 2), photo("bee", 3), photo("bee", 4)}
	plan := deal(t, newDealer(window), Shares{50, 50}, 0, rows)
	if !slices.Equal(plan.whole, []string{"shelf"}) || !strings.Contains(plan.String(), "1 class is") {
		t.Error(plan)
	}
	if got := plan.Of(sha256.Sum256([]byte("new"))); got != "train" {
		t.Errorf("a new file is in %s", got)
	}
	if empty := deal(t, newDealer(window), Shares{50, 50}, 0, nil); empty.String() == "" || empty.groups != 0 {
		t.Error(empty)
	}
}
