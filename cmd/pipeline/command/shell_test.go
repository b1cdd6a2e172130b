//go:build linux

package command_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A console is a program that runs in a pseudo-console.
type console struct {
	testing.TB
	keys   *os.File
	chunks chan []byte
	shown  bytes.Buffer
}

// terminal starts a program in a pseudo-terminal.
func terminal(l *commandtest.Bed, env []string, name string, args ...string) *console {
	l.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		l.Skipf("no pseudo-terminal: %v", err)
	}
	fd := int(master.Fd())
	number := must.Get(unix.IoctlGetInt(fd, unix.TIOCGPTN))(l)
	must.Do(l, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	must.Do(l, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 250}))
	slave := must.Get(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0))(l)
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = l.Dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must.Do(l, cmd.Start())
	slave.Close()
	t := &console{TB: l.TB, keys: master, chunks: make(chan []byte)}
	done := make(chan struct{})
	go func() {
		defer close(t.chunks)
		for {
			buf := make([]byte, 4096)
			n, err := master.Read(buf)
			select {
			case t.chunks <- buf[:n]:
			case <-done:
				return
			}
			if err != nil {
				return // the program has ended
			}
		}
	}()
	l.Cleanup(func() {
		close(done)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		master.Close()
	})
	return t
}

// press types keys, and waits until the terminal shows a text.
func (t *console) press(keys, until string) {
	t.Helper()
	t.shown.Reset()
	must.Get(t.keys.WriteString(keys))(t)
	limit := time.After(2 * time.Minute)
	for !strings.Contains(t.shown.String(), until) {
		select {
		case chunk, open := <-t.chunks:
			if t.shown.Write(chunk); !open {
				t.Fatalf("the program has ended without showing %q:\n%q", until, t.shown.String())
			}
		case <-limit:
			t.Fatalf("%q after %q was waited for in vain:\n%q", until, keys, t.shown.String())
		}
	}
}

// bashWords stands in for the function of the package bash-completion that the
// completion of bash calls, where that is not installed.
const bashWords = `[ -r /usr/share/bash-completion/bash_completion ] && . /usr/share/bash-completion/bash_completion

declare -F _get_comp_words_by_ref >/dev/null || _get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}; }
`

// TestCompletionInShells: what the tab key adds is what the program is called
// with, in each shell that is installed; bash always is.
func TestCompletionInShells(t *testing.T) {
	if testing.Short() {
		t.Skip("starts shells")
	}
	l := commandtest.New(t)
	images := l.Photos(l.Path("base"), commandtest.SmallSide, 2, "great ape", "lime")
	l.Must("train", "--images", images, "--out", l.Path("my.model"))
	env := append(l.OnPath(), "HOME="+l.Dir, "TERM=xterm", "PS1=$ ", "LC_ALL=C.UTF-8", "HISTFILE=/dev/null")
	l.Write(l.Path("rc.bash"), []byte(bashWords+"source <(pipeline completion bash)\necho rea''dy\n"))
	l.Write(l.Path("rc.zsh"),
		[]byte("autoload -U compinit && compinit -u -d zcompdump\nsource <(pipeline completion zsh)\necho rea''dy\n"))
	l.Write(l.Path("rc.fish"), []byte("pipeline completion fish | source\necho rea''dy\n"))
	for shell, args := range map[string][]string{"bash": {"--norc", "--noprofile", "-i"}, "zsh": {"-f", "-i"},
		"fish": {"--private", "-i"}} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil && shell != "bash" {
				t.Skipf("%s is not installed (Debian, Ubuntu: apt-get install %[1]s)", shell)
			}
			term := terminal(l.With(t), env, shell, args...)
			term.press("source rc."+shell+"\r", "ready")
			for _, c := range []struct{ typed, want string }{
				{"pipeline train --classifier gptree-r\t", "[--classifier][gptree-random]"},
				{"pipeline backbones pu\tdinov2-vits\t", "[backbones][pull][dinov2-vits14]"},
				{"pipeline train --set classifier.plda.eps\t0.2", "[--set][classifier.plda.epsilon=0.2]"},
				{"pipeline forget my.m\t--class gr\t", "[my.model][--class][great ape]"},
			} {
				// Ctrl-A puts a command that shows the words before what was completed.
				term.press(c.typed+"\x01printf '[%s]' \r", c.want)
			}
		})
	}
}

// TestColours: errors, warnings and doctor's marks have colours for a person at a
// terminal, unless NO_COLOR is set.
func TestColours(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("one"), commandtest.SmallSide, 2, "kiwi")
	train := []string{"train", "--images", images, "--out", l.Path("one.model")}
	for _, c := range []struct {
		env, want string
		args      []string
	}{
		{"TERM=xterm", "\x1b[1;31merror:\x1b[0m unknown command", []string{"lable"}},
		{"NO_COLOR=1", "error: unknown command", []string{"lable"}},
		{"TERM=dumb", "error: unknown command", []string{"lable"}},
		{"TERM=xterm", "\n\x1b[32m✓\x1b[0m ONNX Runtime", []string{"doctor"}},
		{"NO_COLOR=1", "\n✓ ONNX Runtime", []string{"doctor"}},
		{"TERM=xterm", "\x1b[1;33mwarning:\x1b[0m the model has only one class", train},
		{"NO_COLOR=1", "warning: the model has only one class", train},
	} {
		term := terminal(l, append(l.Env, "TERM=xterm", "NO_COLOR=", c.env), os.Args[0], c.args...)
		term.press("", c.want)
	}
	cmd, stderr := l.Process(l.Path("cache"), "lable")
	_ = cmd.Run() // it fails, as it should
	if text := stderr.String(); !strings.HasPrefix(text, "error: unknown command") {
		t.Errorf("without a terminal: %q", text)
	}
}
