//go:build unix

package commandtest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

const (
	// LargeSide is the side of a photo that is large enough for a run to be caught at work.
	LargeSide = 320
	// Patience bounds the wait for something that must happen; no result depends on it.
	Patience = 2 * time.Minute
)

// BelowPermissions makes permissions apply to a command even if the tests are run
// by root.
func BelowPermissions(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		return cmd
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("root, and no setpriv (util-linux): ", err)
	}
	wrapped := []string{"setpriv", "--bounding-set=-dac_override,-dac_read_search", os.Args[0]}
	cmd.Path, cmd.Args = setpriv, append(wrapped, cmd.Args[1:]...)
	return cmd
}

// probePictures returns the keys of the pictures that every cache has.
func (l *Bed) probePictures() map[string]bool {
	l.Helper()
	if common.probes == nil {
		files, err := filepath.Glob(filepath.Join(testenv.ModuleRoot(l.TB), "embedding", "probes", "*.jpg"))
		if err != nil || len(files) == 0 {
			l.Fatal(err, files)
		}
		common.probes = map[string]bool{}
		for _, file := range files {
			h := cache.HashOf(l.Read(file))
			common.probes[string(h[:])] = true
		}
	}
	return common.probes
}

// CachedRows counts the embeddings of all backbones in a cache, without those of the probe
// pictures. It looks at copies, since a command at work has its file to itself; one that
// changes while it is copied counts for nothing.
func (l *Bed) CachedRows(folder string) int {
	l.Helper()
	files := must.Get(filepath.Glob(filepath.Join(folder, "embeddings", "*.db")))(l)
	rows, isProbe := map[string]bool{}, l.probePictures()
	for _, file := range files {
		for _, key := range l.keysIn(file) {
			if !isProbe[key[len(key)-len(cache.Hash{}):]] {
				rows[key] = true
			}
		}
	}
	return len(rows)
}

// keysIn lists the keys of the embeddings in a file of a cache.
func (l *Bed) keysIn(file string) (keys []string) {
	l.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		return nil // merged or removed since
	}
	copied := l.Path("cached.db")
	l.Write(copied, content)
	defer func() {
		if recover() != nil {
			keys = nil
		}
	}()
	db, err := bolt.Open(copied, 0, &bolt.Options{ReadOnly: true})
	if err != nil {
		return nil
	}
	defer db.Close()
	_ = db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("keys 1"))
		if b == nil {
			return nil
		}
		return b.ForEach(func(key, _ []byte) error {
			keys = append(keys, string(key))
			return nil
		})
	})
	return keys
}

// SignalWhen starts a command and signals it once a condition holds. A command
// that ends before gets no signal, as its exit code shows. Asking for the condition takes at most a
// fifth of a core, since the command needs them.
func (l *Bed) SignalWhen(cmd *exec.Cmd, sig os.Signal, farEnough func() bool) (exitCode int) {
	l.Helper()
	must.Do(l, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(Patience)
	pause := time.Millisecond / 2
	for sent := false; ; {
		select {
		case <-ended:
			return cmd.ProcessState.ExitCode()
		case <-deadline:
			_ = cmd.Process.Kill()
			l.Fatalf("%q did not end", cmd.Args)
		case <-time.After(pause):
			asked := time.Now()
			if !sent && farEnough() {
				sent = true
				_ = cmd.Process.Signal(sig) // it may have ended by now
			}
			pause = max(time.Millisecond/2, 4*time.Since(asked))
		}
	}
}

// WasKilled is the exit code that Go reports for a process ended by a signal.
const WasKilled = -1

// NoLeftovers fails if a folder contains a temporary file.
func (l *Bed) NoLeftovers(dirs ...string) {
	l.Helper()
	for _, dir := range dirs {
		must.Do(l, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && atomicfile.IsTemp(e.Name()) {
				l.Errorf("%s was left over", path)
			}
			return err
		}))
	}
}
