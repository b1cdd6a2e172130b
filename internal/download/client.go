// Package download holds what every download of the program obeys: where a server
// may redirect to, and what an error says when the disk is full.
package download

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

const (
	maxRedirects = 10
	lookupLimit  = 10 * time.Second
)

// Client returns a copy of base that follows redirects only to http and https,
// never from https to http, and only from this machine or network to addresses of
// this machine or network. A nil base is a client without a limit on the whole
// transfer, which may be long, that gives up on a server that does not answer.
func Client(base *http.Client) *http.Client {
	var c http.Client
	if base != nil {
		c = *base
	} else {
		c.Transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   30 * time.Second,
			ResponseHeaderTimeout: time.Minute,
		}
	}
	c.CheckRedirect = checkRedirect
	return &c
}

func checkRedirect(next *http.Request, via []*http.Request) error {
	to, from, origin := next.URL, via[len(via)-1].URL, via[0].URL
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case to.Scheme != "https" && to.Scheme != "http":
		return fmt.Errorf("redirected to %s: only http and https are followed", to.Redacted())
	case from.Scheme == "https" && to.Scheme == "http":
		return fmt.Errorf("redirected from https to %s: refused", to.Redacted())
	case isLocal(next.Context(), to) && !isLocal(next.Context(), origin):
		return fmt.Errorf("redirected to %s, an address of this machine or network: refused", to.Redacted())
	}
	return nil
}

// isLocal reports whether a host is, or resolves to, a loopback, private or
// link-local address. A name that cannot be resolved here is left to the proxy.
func isLocal(ctx context.Context, u *url.URL) bool {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	found, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	return slices.ContainsFunc(found, func(a netip.Addr) bool {
		a = a.Unmap()
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified()
	})
}

// OtherCache is what to do if there is no room in the folder of the cache.
const OtherCache = "free some or choose another folder for the cache"

// Full adds what to do to an error of a write into dir, where bytes more were to
// be stored (0 for unknown), if the reason is that there is no room. remedy says what
// to do then; OtherCache is one.
func Full(err error, dir string, bytes int64, remedy string) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, syscall.EFBIG) {
		return err
	}
	need := "more space"
	if bytes > 0 {
		need = fmt.Sprintf("%d bytes more", bytes)
	}
	return fmt.Errorf("%s has no room, the download needs %s; %s: %w", dir, need, remedy, err)
}
