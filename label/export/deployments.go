package export

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
	"github.com/seed-90d10d51/pipeline/label/events"
)

// Deployments are what people know about deployments, by deploymentID: the cells of a
// table with columns of Camtrap DP's, without empty ones.
type Deployments map[string]map[string]string

// mostDeployments bounds the bytes of a table of deployments.
const mostDeployments = 64 << 20

// The columns that say when a deployment began and ended, and how long it may last.
const (
	deploymentStart, deploymentEnd = "deploymentStart", "deploymentEnd"
	mostYears                      = 100
)

// ReadDeployments reads a CSV file, also with semicolons and decimal commas, with the column deploymentID and others
// of deployments of Camtrap DP, such as latitude and longitude. Errors name the line.
func ReadDeployments(file string) (Deployments, error) {
	text, err := regularfile.Read(file, mostDeployments)
	if err != nil {
		return nil, fmt.Errorf("read deployments: %w", err)
	}
	d, err := parseDeployments(text)
	if err != nil {
		return nil, fmt.Errorf("read deployments %s: %w", file, err)
	}
	return d, nil
}

func parseDeployments(text []byte) (Deployments, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	r := csv.NewReader(bytes.NewReader(text))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	for _, separator := range ";\t" { // as Excel writes where commas are for decimals
		if !bytes.ContainsRune(first, ',') && bytes.ContainsRune(first, separator) {
			r.Comma = separator
		}
	}
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("no header: %w", err)
	}
	known := camtrapFields[deploymentsTable]
	for _, name := range header {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("deployments of Camtrap DP have no column %q%s", name, suggest.Hint(name, known))
		}
	}
	id := slices.Index(header, known[0])
	if id < 0 {
		return nil, fmt.Errorf("no column %s: the first-level folders of the photos", known[0])
	}
	d := Deployments{}
	for {
		record, err := r.Read()
		if err == io.EOF {
			return d, nil
		}
		if err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, text := range record {
			if text != "" {
				row[header[i]] = text
			}
		}
		if err := d.add(record[id], row); err != nil {
			line, _ := r.FieldPos(id)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// area is the smallest rectangle around some deployments, in degrees from west and south to
// east and north: the Earth if the place of one is unknown.
func (d Deployments) area(ids []string) (west, south, east, north float64) {
	west, south, east, north = 180, 90, -180, -90
	for _, id := range ids {
		latitude, err := strconv.ParseFloat(d[id]["latitude"], 64)
		longitude, err2 := strconv.ParseFloat(d[id]["longitude"], 64)
		if err != nil || err2 != nil {
			return -180, -90, 180, 90
		}
		west, east = min(west, longitude), max(east, longitude)
		south, north = min(south, latitude), max(north, latitude)
	}
	return west, south, east, north
}

func (d Deployments) add(id string, row map[string]string) error {
	if d[id] != nil {
		return fmt.Errorf("%q is listed twice", id)
	}
	if (row["latitude"] == "") != (row["longitude"] == "") {
		return errors.New("latitude and longitude belong together")
	}
	for name, most := range map[string]float64{"latitude": 90, "longitude": 180} {
		if text := strings.Replace(row[name], ",", ".", 1); text != "" {
			row[name] = text
			if v, err := strconv.ParseFloat(text, 64); err != nil || !(v >= -most && v <= most) { // NaN is neither
				return fmt.Errorf("%s %q is not from %g to %g degrees", name, text, -most, most)
			}
		}
	}
	for _, name := range []string{deploymentStart, deploymentEnd} {
		if err := setTime(row, name); err != nil {
			return err
		}
	}
	if from, to, ok := span(row); ok && (to.Before(from) || to.After(from.AddDate(mostYears, 0, 0))) {
		return fmt.Errorf("%s %s is before %s %s, or more than %d years after it", deploymentEnd, row[deploymentEnd],
			deploymentStart, row[deploymentStart], mostYears)
	}
	d[id] = row
	return nil
}

// setTime writes a time as Camtrap DP has it. One without a zone is taken for UTC, as those of photos are.
func setTime(row map[string]string, name string) error {
	text := row[name]
	if text == "" {
		return nil
	}
	t, zoned := events.TimeOf(text)
	if t.IsZero() {
		return fmt.Errorf("%s %q could be several times, or is none: write it as 2025-06-14T10:00:00+02:00", name, text)
	}
	row[name] = moment(t)
	if !zoned && row["timestampIssues"] == "" {
		row["timestampIssues"] = "true"
	}
	return nil
}

// Span returns when a deployment began and ended, false if that is not known.
func (d Deployments) Span(id string) (from, to time.Time, ok bool) { return span(d[id]) }

func span(row map[string]string) (from, to time.Time, ok bool) {
	from, err := time.Parse(time.RFC3339, row[deploymentStart])
	to, err2 := time.Parse(time.RFC3339, row[deploymentEnd])
	return from, to, err == nil && err2 == nil
}
