package export

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

const (
	camtrapName      = "camtrap-dp"
	deploymentsTable = "deployments"
	mediaTable       = "media"
	observations     = "observations"
	packageFile      = "datapackage.json"
)

// A camtrap is a Camera Trap Data Package (camtrap-dp.tdwg.org, version 1.0.2): a photo is a
// medium of the deployment that its first-level folder is, and a label an observation of
// a medium, each of several things one, and so is a label of a whole event. What the format
// demands and nobody said is as wide as what is known: a place unknown is anywhere on Earth. A
// photo that does not say when it was taken cannot be in it.
type camtrap struct {
	*folder
	o           Options
	tables      map[string]*csv.Writer
	files       map[string]*file
	deployments map[string]*deployment
	species     map[string]bool
	last        string // path of the last photo: its boxes follow each other
	lastShot    photometa.Shot
}

// A deployment is what its photos say.
type deployment struct {
	start, end time.Time
	unzoned    bool // a camera did not say which time zone its clock has
	cameras    []photometa.Shot
}

func newCamtrap(o Options) (label.Sink, error) {
	tables := []string{deploymentsTable, mediaTable, observations}
	names := []string{packageFile}
	for _, table := range tables {
		names = append(names, table+".csv")
	}
	f, err := newFolder(o.Dir, camtrapName, names)
	if err != nil {
		return nil, err
	}
	c := &camtrap{folder: f, o: o, tables: map[string]*csv.Writer{}, files: map[string]*file{},
		deployments: map[string]*deployment{}, species: map[string]bool{}}
	for _, table := range tables {
		if c.files[table], err = f.create(table + ".csv"); err == nil {
			c.tables[table] = csv.NewWriter(c.files[table])
			err = c.tables[table].Write(camtrapFields[table])
		}
		if err != nil {
			f.Abort()
			return nil, err
		}
	}
	return c, nil
}

// errNoTime says why a photo is not in the package.
var errNoTime = errors.New("neither its EXIF, a list nor its name says when it was taken, which Camtrap DP demands: " +
	"left out of camtrap-dp, unless label.file_times=true takes the time of its file")

// Put implements label.Sink.
func (c *camtrap) Put(row label.Scored) error {
	name := row.Sample.File()
	if c.last != name {
		if err := c.medium(name, row.Sample.Taken); err != nil {
			return err
		}
	}
	if c.lastShot.Time.IsZero() {
		return &label.ItemError{Err: errNoTime}
	}
	names := row.Names()
	if len(names) == 0 {
		return c.write(observations, c.observation(row))
	}
	for i, name := range names {
		o := c.observation(row)
		c.classify(o, row, name)
		if len(names) > 1 { // no file lies below a photo: the id is of nothing else
			o["observationID"] += "/" + strconv.Itoa(i+1)
		}
		if err := c.write(observations, o); err != nil {
			return err
		}
	}
	return nil
}

// empty adds a photo in which a detector found nothing. Without a time it is left out.
func (c *camtrap) empty(photo dataset.BoxedPhoto) error {
	if err := c.medium(photo.Path, photo.Taken); err != nil || c.lastShot.Time.IsZero() {
		return err
	}
	o := c.observationOf(photo.Path)
	o["observationType"], o["classifiedBy"] = "blank", string(label.Detector)
	return c.write(observations, o)
}

// medium adds a photo, if its time is known, and its time to its deployment.
func (c *camtrap) medium(name, taken string) error {
	shot := c.o.Shot(dataset.FullPath(c.o.Root, name), taken)
	c.last, c.lastShot = name, shot
	if shot.Time.IsZero() {
		return nil
	}
	id := c.deploymentOf(name, shot)
	d := c.deployments[id]
	if d == nil {
		d = &deployment{start: shot.Time, end: shot.Time}
		c.deployments[id] = d
	}
	d.take(shot.Time)
	d.unzoned = d.unzoned || !shot.Zoned
	camera := photometa.Shot{Camera: shot.Camera, Serial: shot.Serial}
	if !slices.Contains(d.cameras, camera) && len(d.cameras) < 2 {
		d.cameras = append(d.cameras, camera)
	}
	text := dataset.EscapePath(name)
	return c.write(mediaTable, map[string]string{
		"mediaID": cell(text), "deploymentID": cell(id), "timestamp": moment(shot.Time), "filePath": filePath(text),
		"filePublic": "false", "fileName": cell(path.Base(text)), "fileMediatype": mediatype(text),
	})
}

// take makes a deployment one that lasts at a time.
func (d *deployment) take(at time.Time) {
	if at.Before(d.start) {
		d.start = at
	}
	if at.After(d.end) {
		d.end = at
	}
}

// deploymentOf names the deployment of a photo.
func (c *camtrap) deploymentOf(name string, shot photometa.Shot) string {
	return events.StationOf(c.o.Root, name, shot)
}

// classify says that the observation of a row is of a class.
func (c *camtrap) classify(o map[string]string, row label.Scored, class string) {
	c.name(o, class)
	if byMachine(row) {
		o["classificationProbability"] = label.Digits(min(1, row.Prediction.Probability))
	}
}

// name says that an observation is of a class, in a tag if that is no scientific name.
func (c *camtrap) name(o map[string]string, class string) {
	kind := observationType(class)
	o["observationType"] = kind
	switch {
	case kind != "animal" || isMissing(class):
		o["observationTags"] = "class:" + class
	default:
		c.species[class] = true
		o["scientificName"] = cell(class)
	}
}

// byMachine reports whether nobody has decided about a row.
func byMachine(row label.Scored) bool {
	return row.By == "" || row.By == label.Detector || row.By == label.Later
}

// observation is what a row says, but for its class.
func (c *camtrap) observation(row label.Scored) map[string]string {
	o := c.observationOf(row.Sample.File())
	o["observationID"] = cell(dataset.EscapePath(row.Sample.Path))
	if !byMachine(row) {
		o["classificationMethod"] = "human"
	}
	if row.By != "" && row.By != label.Later {
		o["classifiedBy"] = string(row.By)
	}
	if !row.At.IsZero() {
		o["classificationTimestamp"] = moment(row.At)
	}
	if b := row.Sample.Box; b != nil {
		for i, field := range []string{"bboxX", "bboxY", "bboxWidth", "bboxHeight"} {
			o[field] = label.Digits([]float64{b.X, b.Y, b.W, b.H}[i])
		}
	}
	if row.Event != nil {
		o["eventID"] = row.Event.Name
	}
	return o
}

// observationOf is an observation by the model of the last photo, of nothing known.
func (c *camtrap) observationOf(name string) map[string]string {
	at, id := moment(c.lastShot.Time), cell(dataset.EscapePath(name))
	return map[string]string{
		"observationID": id, "mediaID": id, "deploymentID": cell(c.deploymentOf(name, c.lastShot)),
		"eventStart": at, "eventEnd": at, "observationLevel": "media", "observationType": "unknown",
		"classificationMethod": "machine", "classifiedBy": c.o.Model,
	}
}

// observationType is what the format calls what a class shows.
func observationType(class string) string {
	switch strings.ToLower(class) {
	case "human", "person", "people":
		return "human"
	case "vehicle":
		return "vehicle"
	case "blank", "empty":
		return "blank"
	}
	return "animal"
}

func (c *camtrap) write(table string, row map[string]string) error {
	record := make([]string, len(camtrapFields[table]))
	for i, field := range camtrapFields[table] {
		record[i] = row[field]
	}
	return c.tables[table].Write(record)
}

// ErrNoTimes means that no photo has the time that Camtrap DP demands.
var ErrNoTimes = errors.New("no photo says when it was taken, by EXIF, a list or its name, which Camtrap DP demands: " +
	"leave out camtrap-dp, or take the times of the files with label.file_times=true")

// Commit implements label.Sink.
func (c *camtrap) Commit(o embedding.Outcome) error {
	for _, photo := range c.o.Empty {
		if err := c.empty(photo); err != nil {
			return err
		}
	}
	if len(c.deployments) == 0 {
		return ErrNoTimes
	}
	for _, e := range c.o.Events {
		if err := c.event(e); err != nil {
			return err
		}
	}
	if err := c.writeDeployments(); err != nil {
		return err
	}
	for name, table := range c.tables {
		table.Flush()
		if err := errors.Join(table.Error(), c.files[name].close()); err != nil {
			return err
		}
	}
	text, err := c.descriptor()
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(c.dir.Path(), packageFile), text); err != nil {
		return err
	}
	return c.folder.Commit(o)
}

// anywhere is the distance in metres within which every place on Earth is.
const anywhere = "20003932"

func (c *camtrap) writeDeployments() error {
	for _, id := range sortedKeys(c.deployments) {
		if err := c.write(deploymentsTable, c.deployments[id].row(id, c.o.Deployments[id])); err != nil {
			return err
		}
	}
	return nil
}

// row is what the photos of a deployment say, where nobody knows better.
func (d *deployment) row(id string, known map[string]string) map[string]string {
	row := map[string]string{"timestampIssues": strconv.FormatBool(d.unzoned)}
	var comments []string
	if known["latitude"] == "" {
		row["latitude"], row["longitude"], row["coordinateUncertainty"] = "0", "0", anywhere
		comments = append(comments, "place unknown: anywhere on Earth")
	}
	row["deploymentStart"], row["deploymentEnd"] = moment(d.start), moment(d.end)
	if known["deploymentStart"] == "" || known["deploymentEnd"] == "" {
		comments = append(comments, "start and end are those of the photos")
	}
	if d.unzoned {
		comments = append(comments, "time zone unknown: times of the camera's clock are given as if in UTC")
	}
	row["deploymentComments"] = strings.Join(comments, "; ")
	if len(d.cameras) == 1 {
		row["cameraID"], row["cameraModel"] = cell(d.cameras[0].Serial), cell(d.cameras[0].Camera)
	}
	maps.Copy(row, known)
	row["deploymentID"] = cell(id)
	return row
}

// moment writes a time in its zone.
func moment(t time.Time) string { return t.Format(time.RFC3339) }

// isMissing reports whether the format takes a cell for an empty one.
func isMissing(text string) bool { return slices.Contains([]string{"NA", "NaN", "nan"}, text) }

// cell writes a name that is neither a missing value nor a formula of a spreadsheet.
func cell(text string) string {
	if isMissing(text) {
		return "./" + text
	}
	return dataset.SafeCell(text)
}

// filePath writes a path as a relative reference of a URL where the format forbids the
// name: no dot, slash or tilde at the beginning, and no two dots together.
func filePath(name string) string {
	if strings.HasPrefix(name, "/") {
		return "file://" + strings.ReplaceAll(name, "..", ".%2E")
	}
	if isMissing(name) || !fs.ValidPath(name) || strings.ContainsAny(name[:1], ".~") {
		name = fmt.Sprintf("%%%02X%s", name[0], name[1:])
	}
	return dataset.SafeCell(strings.ReplaceAll(name, "..", ".%2E"))
}

func mediatype(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".jpg", ".jpeg", ".jpe", ".jfif", ".mpo":
		return "image/jpeg"
	case ".png":
		return "image/png"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".bmp":
		return "image/bmp"
	case ".tif", ".tiff":
		return "image/tiff"
	case ".heic", ".heif", ".hif":
		return "image/heic"
	case ".avif":
		return "image/avif"
	}
	return "image/*"
}
