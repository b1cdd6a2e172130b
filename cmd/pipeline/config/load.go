package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	builtin "github.com/seed-90d10d51/pipeline/configs"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
	"github.com/seed-90d10d51/pipeline/method"
)

const (
	envPrefix = "PIPELINE_"
	// maxFileBytes bounds a configuration; the longest one here has 30 kB.
	maxFileBytes = 1 << 20
	// keyAnnotation marks a flag with the key that it sets.
	keyAnnotation = "pipeline_config_key"
)

// forTests are variables that name what the tests need, and set nothing.
var forTests = []string{"PIPELINE_SHARED", "PIPELINE_PYTHON", "PIPELINE_BROWSER"}

// Sources lists where settings other than the defaults come from.
type Sources struct {
	// File is a YAML file, the bare name of a built-in one, or "" for none.
	File string
	// Environ holds NAME=value pairs, as returned by os.Environ.
	Environ []string
	// Flags are a command's flags. Those bound with Bind and set by the user
	// override the file and the environment.
	Flags *pflag.FlagSet
	// Set holds key=value pairs, as given with --set.
	Set []string
}

// Bind makes a flag set a key.
func Bind(flags *pflag.FlagSet, flag, key string) {
	if err := flags.SetAnnotation(flag, keyAnnotation, []string{key}); err != nil {
		panic(err) // the flag is not defined: a programming error
	}
}

// Load resolves the settings from their sources and validates them.
func Load(s Sources) (Config, error) {
	v, known, err := withDefaults()
	if err != nil {
		return Config{}, err
	}
	l := loader{v: v, known: known, defaults: map[string]any{}}
	for _, k := range known {
		l.defaults[k] = v.Get(k)
	}
	for _, step := range []func(Sources) error{l.readFile, l.readEnviron, l.readFlags, l.readSet} {
		if err := step(s); err != nil {
			return Config{}, err
		}
	}
	var c Config
	if err := v.UnmarshalExact(&c); err != nil {
		return Config{}, fmt.Errorf("settings: %w", err)
	}
	if c.Classifier.Methods, err = method.DefaultConfig().Decode(c.Classifier.Sections); err != nil {
		return Config{}, fmt.Errorf("settings: classifier.%w", err)
	}
	if c.Classifier.Sections, err = c.Classifier.Methods.Sections(); err != nil { // in the types of the methods
		return Config{}, err
	}
	return c, c.Validate()
}

func withDefaults() (*viper.Viper, []string, error) {
	var tree map[string]any
	defaults := Default()
	var err error
	if defaults.Classifier.Sections, err = defaults.Classifier.Methods.Sections(); err == nil {
		tree, err = nested(defaults)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("default settings: %w", err)
	}
	v := viper.New()
	for key, value := range tree {
		v.SetDefault(key, value)
	}
	known := v.AllKeys()
	slices.Sort(known)
	return v, known, nil
}

// Keys lists the keys of all settings, sorted.
func Keys() ([]string, error) {
	_, known, err := withDefaults()
	return known, err
}

type loader struct {
	v        *viper.Viper
	known    []string
	defaults map[string]any
}

func (l loader) readFile(s Sources) error {
	if s.File == "" {
		return nil
	}
	text, err := readNamed(s.File)
	if err != nil {
		return err
	}
	if err := l.mergeYAML(text); err != nil {
		return fmt.Errorf("config %s: %w", s.File, err)
	}
	return nil
}

// readNamed reads a file or, if name is a bare name and no such file exists, the
// built-in configuration of that name.
func readNamed(name string) ([]byte, error) {
	text, err := regularfile.Read(name, maxFileBytes)
	bare := filepath.Base(name) == name && filepath.Ext(name) == ""
	switch {
	case err == nil:
		return text, nil
	case bare && isDir(name): // results are often in a folder named after their configuration
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("config: %w", err)
	case !bare:
		return nil, fmt.Errorf("config %s: no such file", name)
	}
	text, names, err := builtin.Named(name)
	if err != nil {
		return nil, fmt.Errorf("config %s: no such file or built-in configuration%s The built-in ones are %s", name,
			suggest.Sentence(name, names), strings.Join(names, ", "))
	}
	return text, nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func (l loader) mergeYAML(text []byte) error {
	var tree map[string]any
	documents := yaml.NewDecoder(bytes.NewReader(text))
	if err := documents.Decode(&tree); err != nil && err != io.EOF {
		return err
	}
	if err := documents.Decode(new(any)); err != io.EOF {
		return errors.New("it has a second document after ---; put all settings into one")
	}
	if err := l.v.MergeConfigMap(tree); err != nil {
		return err
	}
	for _, key := range leaves("", tree) {
		if err := l.check(key, l.v.Get(key)); err != nil {
			return err
		}
	}
	return nil
}

func leaves(prefix string, tree map[string]any) []string {
	var keys []string
	for k, x := range tree {
		if sub, ok := x.(map[string]any); ok {
			keys = append(keys, leaves(prefix+k+".", sub)...)
			continue
		}
		keys = append(keys, prefix+k)
	}
	slices.Sort(keys)
	return keys
}

// readEnviron applies the environment variables, which override the file and are
// overridden by flags.
func (l loader) readEnviron(s Sources) error {
	for _, pair := range s.Environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(forTests, name) {
			continue
		}
		key, err := l.keyOfVariable(name)
		if err != nil {
			return err
		}
		if err := l.merge(key, value); err != nil {
			return fmt.Errorf("environment variable %s: %w", name, err)
		}
	}
	return nil
}

func (l loader) keyOfVariable(name string) (string, error) {
	variables := make([]string, len(l.known))
	for i, k := range l.known {
		variables[i] = envPrefix + strings.ToUpper(strings.ReplaceAll(k, ".", "_"))
	}
	if i := slices.Index(variables, name); i >= 0 {
		return l.known[i], nil
	}
	return "",
		fmt.Errorf("environment variable %s does not match any setting%s configs/reference.yaml lists the settings",
			name, suggest.Sentence(name, variables))
}

func (l loader) readFlags(s Sources) error {
	if s.Flags == nil {
		return nil
	}
	var err error
	s.Flags.Visit(func(f *pflag.Flag) {
		if key := f.Annotations[keyAnnotation]; len(key) == 1 && err == nil {
			err = l.mergeFlag(key[0], f.Value)
		}
	})
	return err
}

// mergeFlag sets one key from a flag. Lists are not converted to text, in which "*"
// and commas inside a value would have another meaning.
func (l loader) mergeFlag(key string, value pflag.Value) error {
	list, isList := value.(pflag.SliceValue)
	if !isList {
		return l.merge(key, value.String())
	}
	if err := l.check(key, nil); err != nil {
		return err
	}
	l.v.Set(key, list.GetSlice())
	return nil
}

func (l loader) readSet(s Sources) error {
	for _, pair := range s.Set {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("--set %s: want key=value", pair)
		}
		if err := l.merge(strings.ToLower(strings.TrimSpace(key)), value); err != nil {
			return fmt.Errorf("--set %s: %w", pair, err)
		}
	}
	return nil
}

// merge sets one key from text, parsed by the type of the default: a string is
// taken literally, a list may be comma-separated without brackets, anything else
// is YAML.
func (l loader) merge(key, text string) error {
	if err := l.check(key, nil); err != nil {
		return err
	}
	var value any = text
	switch l.defaults[key].(type) {
	case string:
		l.v.Set(key, value)
		return nil
	case []string, []float64, []int:
		text = "[" + strings.Trim(text, "[]") + "]"
	}
	if err := yaml.Unmarshal([]byte(text), &value); err != nil || value == nil {
		return fmt.Errorf("%s: cannot read %q as a value like %v", key, text, l.defaults[key])
	}
	l.v.Set(key, value)
	return l.check(key, value)
}

// check returns an error unless the key is known and the value, if there is one,
// fits the type of its default.
func (l loader) check(key string, value any) error {
	standard, known := l.defaults[strings.ToLower(key)]
	if known {
		return checkType(key, value, standard)
	}
	if hint := suggest.Hint(key, l.known); hint != "" {
		return fmt.Errorf("unknown key %q%s", key, hint)
	}
	section := key[:strings.LastIndex(key, ".")+1]
	var keys []string
	for _, k := range l.known {
		if name, ok := strings.CutPrefix(k, strings.ToLower(section)); ok && section != "" &&
			!strings.Contains(name, ".") {
			keys = append(keys, name)
		}
	}
	if len(keys) == 0 {
		return fmt.Errorf("unknown key %q; configs/reference.yaml lists all", key)
	}
	return fmt.Errorf("unknown key %q; the keys of %s are %s", key, strings.TrimSuffix(section, "."),
		strings.Join(keys, ", "))
}

// checkType returns an error that names the value and what is allowed if a value
// does not fit the type of the default. The decoder would cut off the fraction of
// a count and make a negative seed a huge one.
func checkType(key string, value, standard any) error {
	if value == nil || standard == nil {
		return nil
	}
	want := ""
	switch kind := reflect.TypeOf(standard).Kind(); kind {
	case reflect.Int, reflect.Int64:
		want = "a whole number"
	case reflect.Uint64:
		want = "a whole number of 0 or more"
	case reflect.Float64:
		want = "a number"
	case reflect.Bool:
		want = "true or false"
	default:
		return nil // the decoder reports it
	}
	fits := mapstructure.WeakDecode(value, reflect.New(reflect.TypeOf(standard)).Interface()) == nil
	switch v := value.(type) {
	case float64:
		fits = fits && (want == "a number" || v == math.Trunc(v) && math.Abs(v) < 1<<53)
	case int:
		fits = fits && (v >= 0 || reflect.TypeOf(standard).Kind() != reflect.Uint64)
	case string:
		value = strconv.Quote(v)
	}
	if fits {
		return nil
	}
	return fmt.Errorf("%s: %v is not %s; the default is %v", key, value, want, standard)
}
