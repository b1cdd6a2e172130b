package export

import (
	"strings"
	"testing"
)

func TestDeployments(t *testing.T) {
	d, err := parseDeployments([]byte("\xef\xbb\xbflongitude,deploymentID,latitude,cameraTilt,deploymentStart\r\n" +
		"4.774,a,51.496,-15,2025-06-01T00:00:00Z\r\n,b,,,\r\n-5,c,50,,\r\n"))
	if err != nil || len(d) != 3 || d["a"]["cameraTilt"] != "-15" || d["b"]["latitude"] != "" {
		t.Fatalf("%v %v", d, err)
	}
	for ids, want := range map[string][4]float64{
		"a": {4.774, 51.496, 4.774, 51.496}, "a c": {-5, 50, 4.774, 51.496}, "a b": {-180, -90, 180, 90},
		"a d": {-180, -90, 180, 90},
	} {
		west, south, east, north := d.area(strings.Fields(ids))
		if got := [4]float64{west, south, east, north}; got != want {
			t.Errorf("%s: %v, want %v", ids, got, want)
		}
	}
	for text, want := range map[string]string{
		"":                                                    "no header",
		"latitude,longitude\n":                                "no column deploymentID",
		"deploymentID,latitud\n":                              `did you mean "latitude"?`,
		"deploymentID\na\na\n":                                `line 3: "a" is listed twice`,
		"deploymentID,latitude\na,1\n":                        "belong together",
		"deploymentID,latitude,longitude\na,1\n":              "wrong number of fields",
		"deploymentID,latitude,longitude\na,91,1\n":           "-90 to 90",
		"deploymentID,latitude,longitude\na,1,NaN\n":          "-180 to 180",
		"deploymentID,deploymentEnd\na,2025-06-01 10:00:00\n": "no time with a zone",
		"deploymentID,deploymentStart,deploymentEnd\na,2025-06-02T00:00:00Z,2025-06-01T00:00:00Z\n": "is before",
		"deploymentID,deploymentStart,deploymentEnd\na,1025-06-02T00:00:00Z,2025-06-01T00:00:00Z\n": "100 years",
	} {
		if _, err := parseDeployments([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzDeployments: no bytes cause a panic, and what is read has places on Earth.
func FuzzDeployments(f *testing.F) {
	f.Add([]byte("deploymentID,latitude,longitude\na,1,2\n"))
	f.Add([]byte("deploymentID\n\"a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parseDeployments(text)
		if err != nil {
			return
		}
		if west, south, east, north := d.area(sortedKeys(d)); len(d) > 0 && (west < -180 || south < -90 || east > 180 ||
			north > 90 || west > east || south > north) {
			t.Errorf("%g %g %g %g", west, south, east, north)
		}
	})
}
