// Package serve is the HTTP server of `pipeline serve`: the page, and the API that
// the page and other programs use, described in openapi.yaml. What it serves is a
// teach.Session, and what it adds is HTTP: it learns nothing by itself. Open opens the
// Page of a model and its photos. A Desk, from OpenDesk, is the server of `pipeline start`:
// the page on which a project is begun, opened and exported. It has the page of the open
// project at /photos. Both ask a pipeline.Studio for all work.
//
// # Security
//
// Photos are named by the hash of their content, so that no path of a request reaches
// the file system. On the loopback interface, requests must name it as their host, so
// that no other name can be made to point at it; elsewhere, every request needs a
// token. Requests that change something must come from the page itself or from a
// program that sends no Origin. Bodies, photos at a time, connections that send events
// and the time that a client may take are bounded, and decoding by the embedder's
// budget of memory.
//
// A Desk lists folders and takes paths, as its user may. It always asks for a token, and
// for a name of the loopback interface as host.
package serve
