// Command clients uses a server with the client that oapi-codegen makes of openapi.yaml.
//
// usage: clients teach SERVER PHOTO        label, teach, undo
//
//	clients load SERVER PHOTO PID N       label 64 × N times, and end process PID when half is answered
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed-90d10d51/pipeline/scripts/clients/api"
)

const threads = 64

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Args[1:]); err != nil {
		log.Fatal("clients: ", err)
	}
}

func run(ctx context.Context, args []string) error {
	c, err := api.NewClientWithResponses(args[1])
	if err != nil {
		return err
	}
	photo, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	if args[0] == "teach" {
		return teach(ctx, c, photo)
	}
	pid, err1 := strconv.Atoi(args[3])
	each, err2 := strconv.Atoi(args[4])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return load(ctx, c, photo, pid, each)
}

// label returns the answer about each photo, "" for one that cannot be read.
func label(ctx context.Context, c *api.ClientWithResponses, kind string, body io.Reader) ([]string, error) {
	answer, err := c.LabelWithBodyWithResponse(ctx, &api.LabelParams{}, kind, body)
	if err != nil {
		return nil, err
	}
	if answer.JSON200 == nil {
		return nil, status(answer.StatusCode())
	}
	var labels []string
	for _, image := range answer.JSON200.Images {
		photo, err := image.AsLabelledPhoto()
		if err != nil {
			return nil, err
		}
		labels = append(labels, photo.Label)
	}
	return labels, nil
}

// A status is an answer other than 200.
type status int

func (s status) Error() string { return fmt.Sprintf("answered by %d", int(s)) }

func teach(ctx context.Context, c *api.ClientWithResponses, photo []byte) error {
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	for name, content := range map[string][]byte{"photo.jpg": photo, "broken.jpg": []byte("no photo")} {
		part, err := parts.CreateFormFile("image", name)
		if err != nil {
			return err
		}
		if _, err := part.Write(content); err != nil {
			return err
		}
	}
	if err := parts.Close(); err != nil {
		return err
	}
	one, err := label(ctx, c, "image/jpeg", bytes.NewReader(photo))
	if err != nil {
		return err
	}
	both, err := label(ctx, c, parts.FormDataContentType(), &form)
	if err != nil {
		return err
	}
	if len(one) != 1 || one[0] == "" || len(both) != 2 || !slices.Contains(both, one[0]) || !slices.Contains(both, "") {
		return fmt.Errorf("labels %q, and %q of a form with a broken photo", one, both)
	}
	known, err := classes(ctx, c)
	if err != nil {
		return err
	}
	learned, err := c.LearnWithBodyWithResponse(ctx, &api.LearnParams{Class: "taught by Go"}, "image/jpeg",
		bytes.NewReader(photo))
	if err != nil {
		return err
	}
	if learned.JSON200 == nil {
		return status(learned.StatusCode())
	}
	taught, err := classes(ctx, c)
	if err != nil {
		return err
	}
	undone, err := c.UndoWithResponse(ctx)
	if err != nil {
		return err
	}
	if undone.JSON200 == nil {
		return status(undone.StatusCode())
	}
	back, err := classes(ctx, c)
	if err != nil {
		return err
	}
	if !slices.Contains(taught, "taught by Go") || !slices.Equal(back, known) {
		return fmt.Errorf("classes %q, taught %q, undone %q", known, taught, back)
	}
	fmt.Println("Go (oapi-codegen): labelled as", one[0]+", taught, undone")
	return nil
}

func classes(ctx context.Context, c *api.ClientWithResponses) ([]string, error) {
	answer, err := c.ListClassesWithResponse(ctx)
	if err != nil {
		return nil, err
	}
	if answer.JSON200 == nil {
		return nil, status(answer.StatusCode())
	}
	var names []string
	for _, class := range answer.JSON200.Classes {
		names = append(names, class.Name)
	}
	return names, nil
}

// load: until the server is told to end every request is answered, with one label. From then on
// each is answered or refused.
func load(ctx context.Context, c *api.ClientWithResponses, photo []byte, pid, each int) error {
	want, err := label(ctx, c, "image/jpeg", bytes.NewReader(photo))
	if err != nil {
		return err
	}
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = threads
	began := time.Now()
	var ending atomic.Bool
	var right, after, refused atomic.Int64
	var once sync.Once
	wrong := make(chan error, threads)
	var group sync.WaitGroup
	for range threads {
		group.Go(func() {
			for range each {
				late := ending.Load()
				got, err := label(ctx, c, "image/jpeg", bytes.NewReader(photo))
				switch {
				case err != nil && ending.Load():
					refused.Add(1)
					return
				case err != nil, !slices.Equal(got, want):
					wrong <- fmt.Errorf("labels %q, want %q: %w", got, want, err)
					return
				case late:
					after.Add(1)
				}
				if right.Add(1) >= int64(threads*each/2) {
					once.Do(func() {
						ending.Store(true)
						if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
							wrong <- err
						}
					})
				}
			}
		})
	}
	group.Wait()
	close(wrong)
	for err := range wrong {
		return err
	}
	if refused.Load() == 0 {
		return errors.New("the server went on after SIGTERM")
	}
	fmt.Printf("%d threads: %d labels in %.1f s, none lost; %d of them sent after SIGTERM, %d threads refused\n",
		threads, right.Load(), time.Since(began).Seconds(), after.Load(), refused.Load())
	return nil
}
