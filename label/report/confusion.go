package report

import (
	"cmp"
	"iter"
	"slices"
	"strconv"

	"github.com/seed-90d10d51/pipeline/eval/metrics"
)

const worstPairs = 10

// confusion is the table of truth against prediction, formatted for the
// template.
type confusion struct {
	Columns []classHead
	Rows    []confusionRow // nil if there are too many classes
	Pairs   []pair
}

type classHead struct {
	Name string
	New  bool
}

type confusionRow struct {
	Head  classHead
	N     string
	Cells []confusionCell
}

// confusionCell has a heat class: d1–d5 on the diagonal, e1–e5 elsewhere.
type confusionCell struct{ Count, Heat string }

// pair is a mistake and how often it happened.
type pair struct {
	Truth, Predicted string
	N                int
	Share            string
	share            float64
}

func newConfusion(e *metrics.Report, classes []Class) confusion {
	c := confusion{Pairs: mostConfused(e)}
	if len(e.Classes) > MaxMatrixClasses {
		return c
	}
	isNew := newNames(classes)
	for i, name := range e.Classes {
		head := classHead{showName(name), isNew[name]}
		c.Columns = append(c.Columns, head)
		c.Rows = append(c.Rows, newConfusionRow(head, i, e.Confusion[i]))
	}
	return c
}

func newConfusionRow(head classHead, diagonal int, counts []int) confusionRow {
	total := sum(slices.Values(counts))
	row := confusionRow{Head: head, N: count(total)}
	for j, n := range counts {
		cell := confusionCell{}
		if n > 0 {
			cell = confusionCell{Count: count(n), Heat: heat(float64(n)/float64(total), j == diagonal)}
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// heat returns the CSS class of a share in (0, 1], one of five levels.
func heat(share float64, diagonal bool) string {
	level := strconv.Itoa(1 + min(4, int(share*5)))
	if diagonal {
		return "d" + level
	}
	return "e" + level
}

func sum(counts iter.Seq[int]) (total int) {
	for n := range counts {
		total += n
	}
	return total
}

// mostConfused lists the most frequent mistakes, by count, then by share.
func mostConfused(e *metrics.Report) []pair {
	var pairs []pair
	for i, row := range e.Confusion {
		total := float64(sum(slices.Values(row)))
		for j, n := range row {
			if i != j && n > 0 {
				share := float64(n) / total
				pairs = append(pairs, pair{showName(e.Classes[i]), showName(e.Classes[j]), n, percent(share), share})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(b.share, a.share))
	})
	return pairs[:min(len(pairs), worstPairs)]
}

// classBar is a row of the per-class table.
type classBar struct {
	Head           classHead
	N              string
	Accuracy, Wide string
	Known          bool // false if the class has no images
}

func newClassBars(e *metrics.Report, classes []Class) []classBar {
	isNew := newNames(classes)
	var bars []classBar
	for _, c := range e.PerClass {
		b := classBar{Head: classHead{showName(c.Name), isNew[c.Name]}, N: count(c.N), Known: c.Accuracy != nil}
		if b.Known {
			b.Accuracy, b.Wide = percent(*c.Accuracy), barWidth(*c.Accuracy)
		}
		bars = append(bars, b)
	}
	return bars
}
