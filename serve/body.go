package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"github.com/seed-90d10d51/pipeline/teach"
)

// writeJSON answers with JSON; v always marshals.
func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone needs no answer
}

// readJSON reads a body of JSON into v, which has to have all of its fields.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fail(http.StatusUnsupportedMediaType, "the body must be JSON, with Content-Type: application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxJSON))
	if err != nil {
		return unreadable("body", err)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err = d.Decode(v)
	switch {
	case err != nil:
	case d.More():
		err = errors.New("there is more than one value")
	case !utf8.Valid(body): // of which the decoder makes other names
		err = errors.New("it is not UTF-8")
	}
	if err != nil {
		return fail(http.StatusBadRequest, "the body is not the JSON that openapi.yaml describes: %v", err)
	}
	return nil
}

// A sent photo, the body or a part of a form.
type sent struct {
	name string
	data []byte
	part bool
}

// photos reads the photos of a request: its body, or the parts "image" of a form.
// release frees their share of the server's memory.
func (in *intake) photos(w http.ResponseWriter, r *http.Request) (out []sent, release func(), err error) {
	body := &paced{ReadCloser: r.Body, ctx: r.Context(), memory: in.uploads, control: http.NewResponseController(w),
		begun: time.Now()}
	release = func() { in.uploads.Release(body.held) }
	if out, err = readPhotos(w, r, body); err != nil {
		release()
	}
	return out, release, err
}

// A paced body takes of a memory as its bytes come, so that clients that send none keep
// nobody from sending photos. It has to come within uploadGrace and at uploadRate.
type paced struct {
	io.ReadCloser
	ctx     context.Context
	memory  *semaphore.Weighted
	held    int64
	control *http.ResponseController
	begun   time.Time
	n       int // bytes
}

func (p *paced) Read(b []byte) (int, error) {
	b = b[:min(len(b), uploadStep)]
	if int64(p.n+len(b)) > p.held {
		ctx, cancel := context.WithTimeout(p.ctx, uploadGrace) // others may wait for this one
		defer cancel()
		if p.memory.Acquire(ctx, uploadStep) != nil {
			return 0, fail(http.StatusServiceUnavailable, "too many photos are being sent: send them again later")
		}
		p.held += uploadStep
	}
	_ = p.control.SetReadDeadline(p.begun.Add(uploadGrace + time.Duration(p.n)*time.Second/uploadRate))
	n, err := p.ReadCloser.Read(b)
	p.n += n
	return n, err
}

func readPhotos(w http.ResponseWriter, r *http.Request, paced *paced) (out []sent, err error) {
	// Computing may take longer than sending.
	defer func() { _ = paced.control.SetReadDeadline(noDeadline) }()
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	body := http.MaxBytesReader(w, paced, maxBody)
	switch {
	case err != nil:
		return nil, fail(http.StatusUnsupportedMediaType,
			"send a photo with Content-Type: image/jpeg or application/octet-stream, or several as multipart/form-data")
	case kind == "multipart/form-data":
		out, err = parts(multipart.NewReader(body, parameters["boundary"]))
	case strings.HasPrefix(kind, "image/") || kind == "application/octet-stream":
		var data []byte
		data, err = io.ReadAll(body)
		out, err = []sent{{data: data}}, unreadable("body", err)
	default:
		return nil, fail(http.StatusUnsupportedMediaType,
			"%s is not a photo: send image/…, application/octet-stream or multipart/form-data", kind)
	}
	if err == nil && (len(out) == 0 || !out[0].part && len(out[0].data) == 0) {
		err = fail(http.StatusBadRequest, "the body has no photo")
	}
	return out, err
}

// unreadable makes an error of reading a request one of the client.
func unreadable(what string, err error) error {
	var large *http.MaxBytesError
	var refused *failure
	if err == nil || errors.As(err, &large) || errors.As(err, &refused) {
		return err
	}
	return fail(http.StatusBadRequest, "the %s cannot be read: %v", what, err)
}

func parts(form *multipart.Reader) (out []sent, err error) {
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return out, nil
		}
		switch {
		case err != nil:
			return nil, unreadable("form", err)
		case part.FormName() != "image":
			return nil, fail(http.StatusBadRequest, "the form has a part %q: photos are parts called image",
				part.FormName())
		case len(out) == maxPhotos:
			return nil, fail(http.StatusRequestEntityTooLarge, "more than %d photos: send them in several requests",
				maxPhotos)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return nil, unreadable("form", err)
		}
		out = append(out, sent{strings.ToValidUTF8(part.FileName(), "�"), data, true})
	}
}

// number reads a parameter between two bounds.
func number(r *http.Request, name string, least, most, standard int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fail(http.StatusBadRequest, "%s is %q: it is a number from %d to %d", name, text, least, most)
	}
	return n, nil
}

// limit reads the parameter limit.
func limit(r *http.Request) (int, error) { return number(r, "limit", 1, 500, 60) }

// choice reads a parameter that is true, false or missing.
func choice(r *http.Request, name string) (*bool, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return nil, nil
	}
	if text != "true" && text != "false" {
		return nil, fail(http.StatusBadRequest, "%s is %q: it is true or false", name, text)
	}
	yes := text == "true"
	return &yes, nil
}

func pathID(r *http.Request) (teach.ID, error) {
	id, err := teach.ParseID(r.PathValue("id"))
	if err != nil {
		return id, fail(http.StatusBadRequest, "the id of a photo: %v", err)
	}
	return id, nil
}
