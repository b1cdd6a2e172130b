package export

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
)

// event adds what all photos of an event show. One whose photos are not in the package, as none
// could be read, is left out.
func (c *camtrap) event(e *events.Event) error {
	d := c.deployments[e.Station]
	if d == nil || e.Start.IsZero() || !e.Counts() {
		return nil
	}
	d.take(e.Start)
	d.take(e.End)
	labels := e.Labels
	if len(labels) == 0 {
		labels = []string{""}
	}
	for i, class := range labels {
		o := map[string]string{
			"observationID": fmt.Sprintf("event:%s/%d", e.Name, i+1), "eventID": e.Name,
			"deploymentID": cell(e.Station), "eventStart": moment(e.Start), "eventEnd": moment(e.End),
			"observationLevel": "event",
			"observationType":  "unknown", "classificationMethod": "machine", "classifiedBy": c.o.Model,
		}
		p, told := e.Probability(class)
		switch {
		case e.Judged():
			o["classificationMethod"], o["classifiedBy"] = "human", string(label.Person)
		case told:
			o["classificationProbability"] = label.Digits(min(1, p))
		case class != "":
			o["classifiedBy"] = string(label.Detector)
		}
		if class != "" {
			c.name(o, class)
		}
		if err := c.write(observations, o); err != nil {
			return err
		}
	}
	return nil
}
