package dist_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestSignedChecksums runs the step of the release that signs the checksums, with a key of the test: a person can
// check the signature with the public key, and neither another file nor another key passes.
func TestSignedChecksums(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a tool")
	}
	root, tools, work := testenv.ModuleRoot(t), t.TempDir(), t.TempDir()
	run := func(dir, name string, arguments ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, arguments...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "TAG=v1.2.3")
		if key, err := os.ReadFile(filepath.Join(work, "owner")); err == nil {
			cmd.Env = append(cmd.Env, "MINISIGN_KEY="+strings.TrimSpace(string(key)))
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	ok := func(dir, name string, arguments ...string) {
		t.Helper()
		if out, err := run(dir, name, arguments...); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, arguments, err, out)
		}
	}
	minisign := filepath.Join(tools, "minisign")
	ok(root, "go", "build", "-modfile=scripts/tools/go.mod", "-o", minisign, "aead.dev/minisign/cmd/minisign")

	step := signingStep(t, root)
	dist := filepath.Join(work, "dist")
	must.Do(t, os.Mkdir(dist, 0o755))
	ok(work, minisign, "-G", "-W", "-s", "owner", "-p", filepath.Join("dist", "minisign.pub"))
	ok(work, minisign, "-G", "-W", "-s", "stranger", "-p", "stranger.pub")
	archive := []byte("archive")
	must.Do(t, os.WriteFile(filepath.Join(dist, "a.tar.xz"), archive, 0o644))
	sum := fmt.Sprintf("%x  a.tar.xz\n", sha256.Sum256(archive))
	must.Do(t, os.WriteFile(filepath.Join(dist, "a.tar.xz.sha256"), []byte(sum), 0o644))
	ok(work, "bash", "-e", "-c", step)

	ok(dist, minisign, "-V", "-p", "minisign.pub", "-m", "SHA256SUMS")
	ok(dist, "sha256sum", "--check", "SHA256SUMS")
	if _, err := os.Stat(filepath.Join(work, "key")); err == nil {
		t.Error("the key is still there")
	}
	if out, err := run(dist, minisign, "-V", "-p", "../stranger.pub", "-m", "SHA256SUMS"); err == nil {
		t.Errorf("another key fits: %s", out)
	}
	must.Do(t, os.WriteFile(filepath.Join(dist, "SHA256SUMS"), []byte(strings.Replace(sum, "a.", "b.", 1)), 0o644))
	if out, err := run(dist, minisign, "-V", "-p", "minisign.pub", "-m", "SHA256SUMS"); err == nil {
		t.Errorf("another file fits: %s", out)
	}

	// An archive that its checksum does not fit is not signed.
	must.Do(t, os.Remove(filepath.Join(dist, "SHA256SUMS.minisig")))
	damaged := strings.Repeat("0", 64) + sum[64:]
	must.Do(t, os.WriteFile(filepath.Join(dist, "a.tar.xz.sha256"), []byte(damaged), 0o644))
	if out, err := run(work, "bash", "-e", "-c", step); err == nil {
		t.Errorf("a damaged archive is signed: %s", out)
	}
	if _, err := os.Stat(filepath.Join(dist, "SHA256SUMS.minisig")); err == nil {
		t.Error("there is a signature of a damaged archive")
	}
}

// signingStep returns the script of the release that signs.
func signingStep(t *testing.T, root string) string {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	text := must.Get(os.ReadFile(filepath.Join(root, ".github", "workflows", "release.yml")))(t)
	must.Do(t, yaml.Unmarshal(text, &workflow))
	for _, step := range workflow.Jobs["publish"].Steps {
		if strings.Contains(step.Run, "minisign -S") {
			return step.Run
		}
	}
	t.Fatal("the release signs nothing")
	return ""
}
