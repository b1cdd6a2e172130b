package rank

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// Write writes entries as CSV: path, label, probability, given, score, novel,
// group (empty for none). The file can serve as a list of images: a person who
// corrects its column label can have it learned.
func Write(w io.Writer, entries []Entry) error {
	out := csv.NewWriter(w)
	errs := []error{out.Write([]string{"path", "label", "probability", "given", "score", "novel", "group"})}
	for _, e := range entries {
		group := ""
		if e.Group > 0 {
			group = strconv.Itoa(e.Group)
		}
		errs = append(errs, out.Write([]string{
			dataset.SafeCell(dataset.EscapePath(e.Path)), dataset.SafeCell(e.Label), digits(e.Probability),
			dataset.SafeCell(e.Given), digits(e.Score), strconv.FormatBool(e.Novel), group,
		}))
	}
	out.Flush()
	return errors.Join(append(errs, out.Error())...)
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', 7, 64) }
