package ort

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	onnxruntime "github.com/yalue/onnxruntime_go"
)

// A Session is a loaded model. Run is safe for concurrent use; Close is not.
type Session struct {
	rt      *Runtime
	session *onnxruntime.DynamicAdvancedSession
}

// NewSession loads a model from its bytes, which it does not retain. The
// session computes the named outputs from the named inputs on the calling
// goroutine, with all graph optimisations. Cost: optimising the graph,
// typically 0.1–1 s. What is computed beforehand, such as the product of two constants, can take
// longer, and the library cannot be stopped in it: if Until's context ends, it is left to itself.
func (rt *Runtime) NewSession(model []byte, inputs, outputs []string, p Provider) (*Session, error) {
	if rt.until == nil {
		return rt.newSession(model, inputs, outputs, p)
	}
	ctx, cancel := rt.limit()
	defer cancel()
	type opened struct {
		session *Session
		err     error
	}
	done := make(chan opened, 1)
	go func() {
		s, err := rt.newSession(model, inputs, outputs, p)
		done <- opened{s, err}
	}()
	select {
	case o := <-done:
		return o.session, o.err
	case <-ctx.Done():
		go func() {
			if o := <-done; o.err == nil {
				_ = o.session.Close() // nobody uses it
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// limit returns the context of one use of a network.
func (rt *Runtime) limit() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(rt.until, rt.longest, fmt.Errorf(
		"no result after %v: it does not come to an end, or is far too large for this machine", rt.longest))
}

func (rt *Runtime) newSession(model []byte, inputs, outputs []string, p Provider) (*Session, error) {
	options, err := sessionOptions()
	if err != nil {
		return nil, fmt.Errorf("session options: %w", err)
	}
	defer options.Destroy()
	if err := p.enable(options); err != nil {
		return nil, fmt.Errorf("provider %s: the library %s (%s) cannot use it here: %w; use provider cpu, or point "+
			"%s at a build of ONNX Runtime with %s",
			p, rt.library.Path, rt.library.Version, firstLine(err), EnvLibrary, p)
	}
	s, err := onnxruntime.NewDynamicAdvancedSessionWithONNXData(model, inputs, outputs, options)
	if err != nil {
		return nil, rt.explainLoad(err)
	}
	return &Session{rt: rt, session: s}, nil
}

func sessionOptions() (*onnxruntime.SessionOptions, error) {
	o, err := onnxruntime.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		o.SetIntraOpNumThreads(1),
		o.SetInterOpNumThreads(1),
		o.SetExecutionMode(onnxruntime.ExecutionModeSequential),
		o.SetGraphOptimizationLevel(onnxruntime.GraphOptimizationLevelEnableAll),
		o.SetMemPattern(true),
		o.SetCpuMemArena(true),
		o.AddSessionConfigEntry("session.use_env_allocators", "1"), // see boundMemory
		o.SetLogSeverityLevel(onnxruntime.LoggingLevelFatal),
	)
	if err != nil {
		return nil, errors.Join(err, o.Destroy())
	}
	return o, nil
}

// explainLoad adds a remedy to the usual reasons why a model does not load.
func (rt *Runtime) explainLoad(err error) error {
	text := strings.ToLower(err.Error())
	remedy := "export the model again; `pipeline backbones inspect` shows what is in it"
	switch {
	case strings.Contains(text, "not a registered function"), strings.Contains(text, "not implemented"),
		strings.Contains(text, "no opset import"):
		remedy = "the model uses an operator that this library lacks: export it with ONNX's standard operators"
	case strings.Contains(text, "ir version"), strings.Contains(text, "opset"):
		remedy = "this library is older than the model: export with a lower opset (17 works everywhere) or use a " +
			"newer ONNX Runtime"
	case strings.Contains(text, "protobuf"):
		remedy = "the file is damaged: download or export it again"
	}
	return fmt.Errorf("ONNX Runtime %s cannot load the model: %w; %s", rt.library.Version, firstLine(err), remedy)
}

// sourceLocation matches "/path/file.h:46 void function(arguments) ".
var sourceLocation = regexp.MustCompile(`/\S*\.(?:h|cc):\d+ [^\n]*?\)(?: const)? `)

// firstLine strips the library's stack traces and source locations from error
// messages.
func firstLine(err error) error {
	if err == nil {
		return nil
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	text = strings.TrimPrefix(text, "Error creating C session: ")
	return errors.New(strings.TrimSpace(sourceLocation.ReplaceAllString(text, "")))
}

// Run computes outputs from inputs, in the order given to NewSession. Their
// shapes must match the model's.
func (s *Session) Run(inputs, outputs []*Tensor) error { return s.run(values(inputs), values(outputs)) }

// Shape runs a session with one output, which must be float32, and returns the shape of
// the output.
func (s *Session) Shape(inputs ...*Tensor) ([]int64, error) {
	out := make([]onnxruntime.Value, 1)
	if err := s.run(values(inputs), out); err != nil {
		return nil, err
	}
	return out[0].GetShape(), out[0].Destroy()
}

func (s *Session) run(inputs, outputs []onnxruntime.Value) error {
	if s.rt.until == nil {
		return explainRun(s.session.Run(inputs, outputs))
	}
	ctx, cancel := s.rt.limit()
	defer cancel()
	options, err := onnxruntime.NewRunOptions()
	if err != nil {
		return firstLine(err)
	}
	defer options.Destroy()
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		_ = options.Terminate() // fails without options only
	})
	err = s.session.RunWithOptions(inputs, outputs, options)
	if !stop() {
		<-told // no longer uses options
		if err != nil {
			return context.Cause(ctx)
		}
	}
	return explainRun(err)
}

// explainRun adds to the usual reason why a network is too large.
func explainRun(err error) error {
	err = firstLine(err)
	if err == nil || !strings.Contains(err.Error(), "is smaller than requested bytes") {
		return err
	}
	return fmt.Errorf("%w (networks may take three quarters of the memory)", err)
}

// Close frees the model; the session must not be running or be used again.
func (s *Session) Close() error {
	if s.session == nil {
		return nil
	}
	err := s.session.Destroy()
	s.session = nil
	return err
}

func values(tensors []*Tensor) []onnxruntime.Value {
	v := make([]onnxruntime.Value, len(tensors))
	for i, t := range tensors {
		v[i] = t.value
	}
	return v
}
