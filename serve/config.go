package serve

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/preprocess"
)

// Config says where a page is, and who may see it.
type Config struct {
	// Addr is the address to serve at, host:port; port 0 is any that is free.
	Addr string `mapstructure:"addr" json:"addr"`
	// Token is asked for by every request; "" means one that is drawn, or none on
	// the loopback interface. It is not written anywhere.
	Token string `mapstructure:"token" json:"-"`
	// Hosts are the names, perhaps with a port, by which a proxy passes requests on.
	Hosts []string `mapstructure:"hosts" json:"hosts"`
	// BasePath is the path at which a proxy has the page, such as /label.
	BasePath string `mapstructure:"base_path" json:"base_path"`
	// Formats are those of preprocess.Formats that photos of requests may have; none means all. Photos
	// of the folder may have any.
	Formats []string `mapstructure:"formats" json:"formats"`
}

// DefaultConfig returns an address that only this machine reaches.
func DefaultConfig() Config {
	return Config{Addr: "127.0.0.1:8080", Hosts: []string{}, Formats: []string{}}
}

// minToken is the fewest bytes of a token that is set.
const minToken = 16

// Validate returns an error that names the field, its value and what is allowed.
func (c Config) Validate() error {
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		return fmt.Errorf("addr: %q is not host:port, such as 127.0.0.1:8080", c.Addr)
	}
	if c.Token != "" && len(c.Token) < minToken {
		return fmt.Errorf("token: it has %d bytes, and needs at least %d", len(c.Token), minToken)
	}
	for _, host := range c.Hosts {
		if u, err := url.Parse("//" + host); err != nil || u.Host != host || host == "" {
			return fmt.Errorf("hosts: %q is not a host, such as photos.example.org or photos.example.org:8443", host)
		}
	}
	for _, name := range c.Formats {
		if !slices.Contains(preprocess.Formats(), name) {
			return fmt.Errorf("formats: %q is not one of %s", name, strings.Join(preprocess.Formats(), ", "))
		}
	}
	if c.BasePath != "" && cleanPrefix(c.BasePath) == "" {
		return fmt.Errorf("base_path: %q is not a path, such as /label", c.BasePath)
	}
	return nil
}

// Local reports whether the address is of the loopback interface.
func (c Config) Local() bool { return isLoopback(c.Addr) }
