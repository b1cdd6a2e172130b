package export

import (
	"maps"
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
		"deploymentID,deploymentEnd\na,06/01/2025 10:00:00\n": `deploymentEnd "06/01/2025 10:00:00" could be several`,
		"deploymentID,deploymentEnd\na,2025-06-01\n":          "could be several times, or is none",
		"deploymentID,deploymentStart,deploymentEnd\na,2025-06-02T00:00:00Z,2025-06-01T00:00:00Z\n": "is before",
		"deploymentID,deploymentStart,deploymentEnd\na,1025-06-02T00:00:00Z,2025-06-01T00:00:00Z\n": "100 years",
	} {
		if _, err := parseDeployments([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestDeploymentsOfExcel: semicolons, tabs and decimal commas are read, and a time without a zone is one of UTC that
// is marked.
func TestDeploymentsOfExcel(t *testing.T) {
	for _, text := range []string{
		"deploymentID;latitude;longitude;deploymentStart;deploymentEnd\n" +
			"s;52,1;-4,5;2024-06-01 08:00:00;2024-06-10T09:00:00+02:00\n",
		"deploymentID\tlatitude\tlongitude\tdeploymentStart\tdeploymentEnd\n" +
			"s\t52.1\t-4.5\t1.6.2024 8:00\t2024-06-10T09:00:00+02:00\n",
		"deploymentID,latitude,longitude,deploymentStart,deploymentEnd\n" +
			"s,\"52,1\",\"-4,5\",2024-06-01T08:00:00,2024-06-10T09:00:00+02:00\n",
	} {
		d, err := parseDeployments([]byte(text))
		want := map[string]string{"deploymentID": "s", "latitude": "52.1", "longitude": "-4.5",
			"deploymentStart": "2024-06-01T08:00:00Z", "deploymentEnd": "2024-06-10T09:00:00+02:00",
			"timestampIssues": "true"}
		if err != nil || !maps.Equal(d["s"], want) {
			t.Errorf("%q: %v %v", text, d, err)
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
