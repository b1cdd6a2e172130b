package serve

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"gonum.org/v1/gonum/blas/blas32"

	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// An intake takes the photos of requests and computes their embeddings by one network.
type intake struct {
	network Network
	formats []string // that photos may have; none means all
	batches chan *request
	uploads *semaphore.Weighted // bytes
	metrics *metrics
}

// A Network computes the embeddings of photos that are in memory.
type Network interface {
	EmbedContents(ctx context.Context, files [][]byte) ([]pixels.Item, error)
}

func newIntake(n Network, formats []string, uploads *semaphore.Weighted, m *metrics) *intake {
	return &intake{n, formats, make(chan *request), uploads, m}
}

// A request waits for the embeddings of its photos.
type request struct {
	files [][]byte
	reply chan reply
}

type reply struct {
	items []pixels.Item
	err   error
}

// maxTogether is the most photos of several requests that are embedded together.
const maxTogether = 32

// compute embeds the photos of requests. Those that come while others are computed
// are computed together.
func (in *intake) compute(ctx context.Context) {
	for {
		var waiting []*request
		select {
		case r := <-in.batches:
			waiting = append(waiting, r)
		case <-ctx.Done():
			return
		}
		n := len(waiting[0].files)
		for more := true; more && n < maxTogether; {
			select {
			case r := <-in.batches:
				waiting, n = append(waiting, r), n+len(r.files)
			default:
				more = false
			}
		}
		in.metrics.batch(n)
		in.answer(ctx, waiting)
	}
}

func (in *intake) answer(ctx context.Context, waiting []*request) {
	var files [][]byte
	for _, r := range waiting {
		files = append(files, r.files...)
	}
	items, err := in.network.EmbedContents(ctx, files)
	for _, r := range waiting {
		if err != nil {
			r.reply <- reply{err: err}
			continue
		}
		r.reply <- reply{items: items[:len(r.files):len(r.files)]}
		items = items[len(r.files):]
	}
}

// embed returns the embeddings of photos. One that cannot be read alone is an error; of several in a
// form each has its own. However long that took, there is time for the answer.
func (in *intake) embed(w http.ResponseWriter, r *http.Request) (photos []sent, items []pixels.Item, err error) {
	photos, release, err := in.photos(w, r)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	defer func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(requestTime)) }()
	var files [][]byte
	items = make([]pixels.Item, len(photos))
	for i, p := range photos {
		if items[i].Err = in.accepts(p.data); items[i].Err != nil {
			items[i].Hash = cache.HashOf(p.data)
		} else {
			files = append(files, p.data)
		}
	}
	computed, err := in.computed(r.Context(), files)
	for i := range items {
		if err == nil && items[i].Err == nil {
			items[i], computed = computed[0], computed[1:]
		}
	}
	if err == nil && !photos[0].part && items[0].Err != nil {
		err = fail(http.StatusUnprocessableEntity, "the photo cannot be used: %v", items[0].Err)
	}
	return photos, items, err
}

// accepts returns an error if photos of requests may not have the format of the file.
func (in *intake) accepts(file []byte) error {
	if len(in.formats) == 0 {
		return nil
	}
	format, err := preprocess.FormatOf(file)
	if err == nil && !slices.Contains(in.formats, format) {
		err = fmt.Errorf("this is %s, and serve.formats allows %s", format, strings.Join(in.formats, ", "))
	}
	return err
}

// computed waits for the embeddings of files.
func (in *intake) computed(ctx context.Context, files [][]byte) ([]pixels.Item, error) {
	if len(files) == 0 {
		return nil, nil
	}
	q := &request{files: files, reply: make(chan reply, 1)}
	select {
	case in.batches <- q:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case a := <-q.reply:
		return a.items, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readable returns the items that have an embedding.
func readable(items []pixels.Item) []pixels.Item {
	return slices.DeleteFunc(slices.Clone(items), func(item pixels.Item) bool { return item.Err != nil })
}

// matrix has a row for each of one or more items.
func matrix(items []pixels.Item) blas32.General {
	x := dense.New32(len(items), len(items[0].Vector))
	for i, item := range items {
		copy(dense.Row32(x, i), item.Vector)
	}
	return x
}
