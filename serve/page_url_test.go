package serve

import (
	"net"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestPageURL: the address that is printed can be opened.
func TestPageURL(t *testing.T) {
	for address, want := range map[string]string{
		"[::]:8080": "http://localhost:8080/label/?token=t", "0.0.0.0:80": "http://localhost:80/label/?token=t",
		"[::1]:8080": "http://[::1]:8080/label/?token=t", "127.0.0.1:8080": "http://127.0.0.1:8080/label/?token=t",
		"[fe80::1%eth0]:8080": "http://[fe80::1%25eth0]:8080/label/?token=t",
	} {
		a := must.Get(net.ResolveTCPAddr("tcp", address))(t)
		a.Zone = map[string]string{"[fe80::1%eth0]:8080": "eth0"}[address] // this machine may have no such interface
		if got := pageURL(a, "/label/", "t"); got != want {
			t.Errorf("%s gives %s, want %s", address, got, want)
		}
	}
	if got := pageURL(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, "", ""); got != "http://127.0.0.1:1/" {
		t.Error(got)
	}
}
