package sharedlib

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// A Search describes an optional library and where it may be.
type Search struct {
	// Name is for messages, Functions are names of the function that
	// distinguishes the library from others.
	Name      string
	Functions []string
	// Env is the environment variable that names the file.
	Env string
	// NotFound is wrapped by all errors, Remedy tells users without a library
	// what to do.
	NotFound error
	Remedy   string
}

// Locate returns the absolute path of the library and its function: explicit,
// the file named by s.Env, or the first usable one of places. The first two are
// binding: if one is set but unusable, Locate fails.
func (s Search) Locate(explicit string, places []string) (path, function string, err error) {
	source := "the configuration"
	if explicit == "" {
		explicit, source = os.Getenv(s.Env), "$"+s.Env
	}
	if explicit != "" {
		if path, function, err = s.Inspect(explicit); err != nil {
			err = fmt.Errorf("%w: %s, named by %s: %w; correct it or remove the setting", s.NotFound, explicit, source,
				err)
		}
		return path, function, err
	}
	wrong := s.NotFound // and the problems of the others
	for _, place := range places {
		path, function, err := s.Inspect(place)
		switch {
		case err == nil:
			return path, function, nil
		case !errors.Is(err, os.ErrNotExist):
			wrong = fmt.Errorf("%w: %s: %w", wrong, place, err)
		}
	}
	return "", "", fmt.Errorf("%w: %s", wrong, s.Remedy)
}

// Inspect returns the absolute path of a library and its function.
func (s Search) Inspect(file string) (path, function string, err error) {
	path, err = filepath.Abs(file)
	if err != nil {
		return "", "", err
	}
	found, err := Inspect(path, s.Functions...)
	if errors.Is(err, ErrNoFunction) {
		err = fmt.Errorf("a shared library, but not %s (no %s in it)", s.Name, s.Functions[0])
	}
	return path, found.Function, err
}

// SetupDir returns the folder that `pipeline setup` fills with a release of a library,
// in the user's cache; "" if there is no home folder.
func SetupDir(env func(string) string, home, library, version string) string {
	base := env("XDG_CACHE_HOME")
	if !filepath.IsAbs(base) { // as the XDG specification requires
		if home == "" {
			return ""
		}
		base = filepath.Join(home, ".cache")
	}
	return filepath.Join(base, "pipeline", library, version)
}

// Install says how to install a library on this system: by a package of Debian or Fedora, ""
// for none, or a formula of Homebrew; "" on Windows, where no package has one.
func Install(debian, fedora, formula string) string {
	switch runtime.GOOS {
	case "windows":
		return ""
	case "darwin":
		return "install it (brew install " + formula + "), or "
	}
	text := "install it (Debian, Ubuntu: " + debian
	if fedora != "" {
		text += "; Fedora: " + fedora
	}
	return text + "), or "
}

// Multiarch returns the folder of libraries for a processor on Debian, if any.
func Multiarch(goarch string) []string {
	switch goarch {
	case "amd64":
		return []string{"/usr/lib/x86_64-linux-gnu"}
	case "arm64":
		return []string{"/usr/lib/aarch64-linux-gnu"}
	}
	return nil
}

// Beside returns the folders that may hold libraries shipped with a program in dir:
// dir itself, and where the archive and the Debian package put them. It returns none
// if dir is "".
func Beside(dir string) []string {
	if dir == "" {
		return nil
	}
	return []string{dir, filepath.Join(dir, "lib"), filepath.Join(filepath.Dir(dir), "lib", "pipeline")}
}

// ProgramDir returns the folder of this program, "" if it is unknown. Where /proc is
// not mounted, the command that started it says where it is.
func ProgramDir() string {
	path, err := os.Executable()
	if err != nil {
		if path, err = exec.LookPath(os.Args[0]); err != nil {
			return ""
		}
		if path, err = filepath.Abs(path); err != nil {
			return ""
		}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Dir(path)
}

// Places returns the files to try, in order, in the folders of Folders. Only Linux has names
// with a version; elsewhere they are bare, such as openblas.
func Places(setup, formula, opt, bare string, names ...string) (files []string) {
	switch runtime.GOOS {
	case "darwin":
		names = []string{"lib" + bare + ".dylib"}
	case "windows":
		names = []string{bare + ".dll", "lib" + bare + ".dll"}
	}
	for _, folder := range Folders(setup, formula, opt) {
		for _, name := range names {
			files = append(files, filepath.Join(folder, name))
		}
	}
	return files
}

// Folders returns the folders to try, in order: those of what was shipped with the program,
// that which `pipeline setup` fills ("" for none), and the usual ones of the system: on Linux
// including opt, on macOS Homebrew's for the formula; Windows has none.
func Folders(setup, formula, opt string) []string {
	folders := Beside(ProgramDir())
	if setup != "" {
		folders = append(folders, setup)
	}
	switch runtime.GOOS {
	case "windows":
		return folders
	case "darwin":
		return append(folders, "/opt/homebrew/opt/"+formula+"/lib", "/usr/local/opt/"+formula+"/lib",
			"/opt/homebrew/lib", "/usr/local/lib")
	}
	folders = append(append(folders, "/usr/local/lib", opt), Multiarch(runtime.GOARCH)...)
	return append(folders, "/usr/lib64", "/usr/lib")
}

// Glob returns the files of a folder whose names match a pattern, sorted.
func Glob(folder, pattern string) (files []string) {
	entries, _ := os.ReadDir(folder) // none of a folder that cannot be read
	for _, e := range entries {
		if matches, _ := filepath.Match(pattern, e.Name()); matches {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files
}
