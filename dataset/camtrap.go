package dataset

import (
	"cmp"
	"slices"
	"strings"
)

// isObservations recognises observations.csv of a Camera Trap Data Package.
func isObservations(header []string) bool {
	return slices.Contains(header, "observationID") && slices.Contains(header, "mediaID")
}

// observations reads such a table as paths, which label writes as mediaID, and classes. An
// observation of a whole event, which has no medium, is left out.
func observations(r records) records {
	at := func(name string) int { return slices.Index(r.header, name) }
	media, kind, name, tags := at("mediaID"), at("observationType"), at("scientificName"), at("observationTags")
	how, who := at("classificationMethod"), at("classifiedBy")
	out := r
	out.header, out.first, out.several, out.media = []string{"path", "label", "by", "probability"}, nil, true, true
	out.each = func(_ []int, use func(number int, cells []string) bool) error {
		return r.each(nil, func(number int, cells []string) bool {
			get := func(i int) string { return field(cells, i) }
			by := cmp.Or(get(who), "person")
			if get(how) == "machine" {
				by = ""
			}
			label := JoinLabels(observed(get(kind), get(name), get(tags)))
			return use(number, []string{get(media), label, by, ""})
		})
	}
	return out
}

// observed is the class of an observation: a tag "class:" of it, its scientific name, or
// what it is of; "" if nobody knows.
func observed(kind, name, tags string) string {
	for tag := range strings.SplitSeq(tags, "|") {
		if class, ok := strings.CutPrefix(strings.TrimSpace(tag), "class:"); ok {
			return class
		}
	}
	switch {
	case name != "":
		return name
	case kind == "human", kind == "vehicle", kind == "blank":
		return kind
	}
	return ""
}
