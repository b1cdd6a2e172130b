package export

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// camtrapFields are the columns of the tables, which have to be these in this order.
var camtrapFields = map[string][]string{
	deploymentsTable: strings.Fields(`deploymentID locationID locationName latitude longitude coordinateUncertainty
		deploymentStart deploymentEnd setupBy cameraID cameraModel cameraDelay cameraHeight cameraDepth cameraTilt
		cameraHeading detectionDistance timestampIssues baitUse featureType habitat deploymentGroups deploymentTags
		deploymentComments`),
	mediaTable: strings.Fields(`mediaID deploymentID captureMethod timestamp filePath filePublic fileName fileMediatype
		exifData favorite mediaComments`),
	observations: strings.Fields(`observationID deploymentID mediaID eventID eventStart eventEnd observationLevel
		observationType cameraSetupType scientificName count lifeStage sex behavior individualID
		individualPositionRadius individualPositionAngle individualSpeed bboxX bboxY bboxWidth bboxHeight
		classificationMethod classifiedBy classificationTimestamp classificationProbability observationTags
		observationComments`),
}

// camtrapSchemas is where the version's schemas are published, by which it is recognised.
const camtrapSchemas = "https://raw.githubusercontent.com/tdwg/camtrap-dp/1.0.2/"

// descriptor is datapackage.json. What only people know about a project is as little as the
// format allows.
func (c *camtrap) descriptor() ([]byte, error) {
	type object = map[string]any
	var resources, taxa []object
	for _, table := range []string{deploymentsTable, mediaTable, observations} {
		resources = append(resources, object{
			"name": table, "path": table + ".csv", "profile": "tabular-data-resource", "format": "csv",
			"mediatype": "text/csv", "encoding": "utf-8", "schema": camtrapSchemas + table + "-table-schema.json",
		})
	}
	for _, name := range sortedKeys(c.species) {
		taxa = append(taxa, object{"scientificName": name})
	}
	if taxa == nil {
		taxa = []object{}
	}
	start, end := c.period()
	west, south, east, north := c.o.Deployments.area(sortedKeys(c.deployments))
	title, levels := filepath.Base(c.o.Root), []string{"media"}
	if len(c.o.Events) > 0 {
		levels = append(levels, "event")
	}
	text, err := json.MarshalIndent(object{
		"profile":   camtrapSchemas + "camtrap-dp-profile.json",
		"name":      "labels",
		"title":     "Labels of " + title,
		"created":   c.o.Now().UTC().Format(time.RFC3339),
		"resources": resources,
		"description": "Written by pipeline. Places, contributors and the project are not known: complete " +
			"them before the package is published.",
		"contributors": []object{{"title": "not given"}},
		"project": object{
			"title": title, "samplingDesign": "opportunistic", "captureMethod": []string{"activityDetection"},
			"individualAnimals": false, "observationLevel": levels,
		},
		"spatial": object{"type": "Polygon", "coordinates": [][][2]float64{
			{{west, south}, {east, south}, {east, north}, {west, north}, {west, south}},
		}},
		"temporal":  object{"start": start.Format(time.DateOnly), "end": end.Format(time.DateOnly)},
		"taxonomic": taxa,
	}, "", "  ")
	return append(text, '\n'), err
}

// period is that of all deployments.
func (c *camtrap) period() (start, end time.Time) {
	for _, d := range c.deployments {
		if start.IsZero() || d.start.Before(start) {
			start = d.start
		}
		if d.end.After(end) {
			end = d.end
		}
	}
	return start, end
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
