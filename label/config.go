package label

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// Config selects what is written. The zero value stands for DefaultConfig, and so does a field that is
// zero, except where the field says what that means.
type Config struct {
	// Format lists what to write: "csv", "jsonl", "parquet", "xlsx", which are tables, and
	// "imagefolder", "coco", "label-studio", "camtrap-dp", which are folders of that name
	// (package export).
	Format []string `mapstructure:"format" json:"format"`
	// TopK is the number of ranked classes in the column top_k.
	TopK int `mapstructure:"top_k" json:"top_k"`
	// Reject is the share of known-class images that may be rejected as
	// unknown; 0 rejects nothing.
	Reject float64 `mapstructure:"reject" json:"reject"`
	// NewShare is the share of images that is taken to be of new classes for the column
	// p_new.
	NewShare float64 `mapstructure:"new_share" json:"new_share"`
	// Adapt compares the photos with each other first, so that those alike are labelled alike
	// (package adapt); false labels each by itself, as shards and single requests are.
	Adapt bool `mapstructure:"adapt" json:"adapt"`
	// Events labels photos of one camera together that were taken at most so many seconds
	// after each other; 0 labels each alone.
	Events float64 `mapstructure:"events" json:"events"`
	// FileTimes takes the time of a photo that tells none from its file's last change.
	FileTimes bool `mapstructure:"file_times" json:"file_times"`
	// Organise is "link" or "copy" for a tree of class folders, "" for none.
	Organise string `mapstructure:"organise" json:"organise"`
	// Only is "decided" to write only what people decided, "" for everything.
	Only string `mapstructure:"only" json:"only"`
	// Split divides the images into parts of some shares in percent, such as "80,20"
	// (package split); "" does not.
	Split string `mapstructure:"split" json:"split"`
	// Deployments is a CSV file of what is known about them, for "camtrap-dp" and Events; ""
	// for nothing.
	Deployments string `mapstructure:"deployments" json:"deployments"`
	// XMP writes sidecar files next to the photos.
	XMP bool `mapstructure:"xmp" json:"xmp"`
	// Report writes report.html, with at most Thumbnails pictures.
	Report     bool `mapstructure:"report" json:"report"`
	Thumbnails int  `mapstructure:"thumbnails" json:"thumbnails"`
	// RowsPerFile is the maximum number of rows in a result file; further rows
	// go to labels-2.csv and so on. 0 means one file.
	RowsPerFile int `mapstructure:"rows_per_file" json:"rows_per_file"`
}

// defaultRowsPerFile is as many rows as a spreadsheet opens.
const defaultRowsPerFile = 1_000_000

// mostSeconds is a day: photos further apart are of no event.
const mostSeconds = 24 * 60 * 60

// maxThumbnails limits the report to about 100 MB, which browsers still open.
const maxThumbnails = 20_000

// DefaultConfig returns the configuration that writes CSV with the five best
// classes and rejects nothing. New and known classes have even odds: what is new more often
// than not says the photo, and not what is usual in a folder.
func DefaultConfig() Config {
	return Config{Format: []string{"csv"}, TopK: 5, NewShare: 0.5, Adapt: true,
		RowsPerFile: defaultRowsPerFile, Thumbnails: 2000}
}

// resolved returns the configuration with the defaults of fields that cannot be zero.
func (c Config) resolved() Config {
	standard := DefaultConfig()
	c = setting.OrDefault(c, standard)
	if len(c.Format) == 0 {
		c.Format = standard.Format
	}
	c.TopK, c.Thumbnails = cmp.Or(c.TopK, standard.TopK), cmp.Or(c.Thumbnails, standard.Thumbnails)
	c.NewShare = cmp.Or(c.NewShare, standard.NewShare)
	return c
}

// Validate returns an error that names the field, its value and what is
// allowed.
func (c Config) Validate() error {
	if len(c.Format) == 0 {
		return fmt.Errorf("format: empty; choose from %s", strings.Join(Formats(), ", "))
	}
	for i, f := range c.Format {
		if !slices.Contains(Formats(), f) {
			return fmt.Errorf("format: %q is not one of %s", f, strings.Join(Formats(), ", "))
		}
		if slices.Contains(c.Format[:i], f) {
			return fmt.Errorf("format: %q is listed twice", f)
		}
	}
	if c.TopK < 1 {
		return fmt.Errorf("top_k: %d is not positive", c.TopK)
	}
	if c.Organise != "" && c.Organise != "link" && c.Organise != "copy" {
		return fmt.Errorf("organise: %q is neither link nor copy", c.Organise)
	}
	if !(c.Events >= 0 && c.Events <= mostSeconds) {
		return fmt.Errorf("events: %g is not from 0 to %d seconds", c.Events, mostSeconds)
	}
	if c.Only != "" && c.Only != "decided" {
		return fmt.Errorf("only: %q is not decided, the one choice", c.Only)
	}
	if c.Thumbnails < 1 || c.Thumbnails > maxThumbnails {
		return fmt.Errorf("thumbnails: %d is not from 1 to %d", c.Thumbnails, maxThumbnails)
	}
	if c.RowsPerFile < 0 {
		return fmt.Errorf("rows_per_file: %d is negative; use 0 for one file", c.RowsPerFile)
	}
	if !(c.Reject >= 0 && c.Reject < 1) { // NaN is neither
		return fmt.Errorf("reject: %g is not in [0, 1)", c.Reject)
	}
	if !(c.NewShare > 0 && c.NewShare < 1) {
		return fmt.Errorf("new_share: %g is not between 0 and 1", c.NewShare)
	}
	return nil
}
