package embedding

import (
	"log/slog"
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// remarks count the remarks on photos and keep the first photo of each.
type remarks map[preprocess.Remark]remarked

type remarked struct {
	n     int
	first string
}

func (r remarks) add(item Item) {
	if item.Remark == "" {
		return
	}
	of := r[item.Remark]
	if of.n++; of.n == 1 {
		of.first = dataset.EscapePath(item.Sample.Path)
	}
	r[item.Remark] = of
}

// A crop that hides much is mentioned if it does so in at least one photo out of manyHidden.
const manyHidden = 4

// log says what was remarked on photos, of which images were computed.
func (r remarks) log(to *slog.Logger, images int) {
	for _, text := range slices.Sorted(maps.Keys(r)) {
		if text == preprocess.RemarkHidden {
			if manyHidden*r[text].n >= images {
				to.Info(string(text), "photos", r[text].n, "of", images)
			}
			continue
		}
		to.Warn(string(text), "photos", r[text].n, "first", r[text].first)
	}
}
