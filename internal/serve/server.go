// Package serve lets a person work with a problem on a web page. The page shows the shortlist
// while kir draws. Changes to the problem become steps, each a problem file that the command
// line reads. The page also runs the campaign, in the files of kir next and kir record.
//
// The page is served on the person's own machine. See guard for which requests are admitted,
// and hub for how the page receives news.
package serve

import (
	"bytes"
	"context"
	"crypto/tls"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/report/figure"
	"kir/internal/report/pagestyle"
)

// assets has the files of the page.
//
//go:embed assets
var assets embed.FS

// Serve serves the page of a problem until ctx ends.
func Serve(ctx context.Context, o Options) (err error) {
	l, err := lockProblem(o.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.release()) }()
	certificate, err := o.certificate()
	if err != nil {
		return err
	}
	listener, err := listen(o.Address, l.previousAddress())
	if err != nil {
		return listenError(o.Address, err)
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	s, err := newSession(working, o)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, s.closeAtExit()) }()
	address, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		return err
	}
	g := newGuard(address, o.scheme(), o.Hosts)
	if err := l.writeAddress(g.pageURL()); err != nil {
		return err
	}
	door, err := s.writeLaunchFile(g)
	if err != nil {
		return err
	}
	return serveUntilDone(ctx, listener, certificate, g.requireAdmission(s.handler()), func() {
		s.startWork()
		if o.OnReady != nil {
			o.OnReady(s.pageAddress(g), door)
		}
	}, s.hub.close)
}

// listen listens at an address. If the port of the address is 0, listen first tries the port of
// previous, at which the problem was served before.
func listen(address string, previous netip.AddrPort) (net.Listener, error) {
	if host, port, err := net.SplitHostPort(address); err == nil && port == "0" && previous.IsValid() && host == previous.Addr().String() {
		if listener, err := net.Listen("tcp", previous.String()); err == nil {
			return listener, nil
		}
	}
	return net.Listen("tcp", address)
}

// listenError returns the error for an address at which the server could not listen.
func listenError(address string, err error) error {
	return &inputerr.Error{Message: "the page cannot be served at " + inputerr.Quote(address), Hint: "name an address of this machine, such as 127.0.0.1:8080; with port 0, kir chooses a free one", Err: err}
}

// serveUntilDone serves a handler until ctx ends. It uses TLS if certificate is not nil. The
// function onStart is called when the server is running. The function beforeStop is called before
// the server stops and must end the streams of open pages.
func serveUntilDone(ctx context.Context, listener net.Listener, certificate *tls.Certificate, handler http.Handler, onStart, beforeStop func()) (err error) {
	unknown := newUnauthenticatedConns(maxOpenFiles())
	server := &http.Server{
		Handler: handler, ConnContext: unknown.connContext, ConnState: unknown.connState,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16, Protocols: new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true)
	if certificate != nil {
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	onStart()
	select {
	case err = <-served:
		return err
	case <-ctx.Done():
	}
	beforeStop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 500*time.Millisecond)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		return server.Close()
	}
	return nil
}

// pageAddress returns an address that opens the page once. After the address is used, the session
// announces a new address for another browser.
func (s *Session) pageAddress(g *guard) string {
	return newRenewingAddress(g, func(next string) {
		if s.options.OnNewAddress != nil {
			s.options.OnNewAddress(next)
		}
	})
}

// newRenewingAddress returns an address that opens the page once. When the address is used, onRenew
// is called with a new address of the same kind.
func newRenewingAddress(g *guard, onRenew func(address string)) string {
	return g.newOneTimeAddress(func() { onRenew(newRenewingAddress(g, onRenew)) })
}

// writeLaunchFile writes a file that redirects a browser to the page, and returns the path of the
// file. kir starts a browser with this file instead of the address, because other users of a
// machine can see the arguments of processes. Only the user can read the file. The file is removed
// after use.
func (s *Session) writeLaunchFile(g *guard) (path string, err error) {
	return createLaunchFile(s.scratchDir, g, s.addErrorNote)
}

// createLaunchFile writes a file that redirects a browser to the page, and returns the path of the
// file. The file is removed after use, and reportError is called with the error of the removal or
// nil.
func createLaunchFile(scratch *scratchDir, g *guard, reportError func(error)) (path string, err error) {
	const name = "open.html"
	dir := &file.Dir{Path: scratch.path, Mode: 0o600}
	address := g.newOneTimeAddress(func() { reportError(dir.Remove(name)) })
	var b bytes.Buffer
	if err := launchTemplate.Execute(&b, address); err != nil {
		return "", err
	}
	return dir.Join(name), dir.Create(name, b.Bytes())
}

// launchTemplate is the template of the file that redirects a browser to the page. The data of the
// template is the address.
var launchTemplate = template.Must(template.New("").Parse(`<!doctype html><meta charset="utf-8"><title>kir</title><meta http-equiv="refresh" content="0; url={{.}}"><p><a href="{{.}}">The page of kir serve</a>
`))

// handler returns the handler for requests that the [guard] admits.
func (s *Session) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", serveDocument("page.html"))
	mux.HandleFunc("GET /page.css", serveStyle("page.css"))
	mux.HandleFunc("GET /js/{name}", serveScript)
	// The page has no icon, but a browser may ask for one before it knows that.
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.Handle("GET /events", s.hub)
	mux.HandleFunc("POST "+requestPath, s.serveRequest)
	mux.HandleFunc("GET /amounts", jsonHandler(s.respondWithHistogram))

	mux.HandleFunc("GET /map", jsonHandler(s.respondWithMap))
	mux.HandleFunc("GET /pair", jsonHandler(s.respondWithQuestion))
	mux.HandleFunc("GET /text", jsonHandler(s.respondWithStepText))
	mux.HandleFunc("GET /list", jsonHandler(s.respondWithShortlist))
	mux.HandleFunc("GET /csv", s.serveTable)
	mux.HandleFunc("GET /weigh", s.serveWeighing)
	mux.HandleFunc("GET /sheets", s.serveSheets)
	mux.HandleFunc("GET /figures", jsonHandler(s.respondWithModelFigures))
	mux.HandleFunc("GET /leaves", jsonHandler(s.respondWithRulePreview))
	return mux
}

// serveDocument returns a handler that serves an HTML file of the page. The file contains no data
// of a problem.
func serveDocument(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text) // an error means that the browser is gone
	}
}

// serveStyle returns a handler that serves a style sheet with the given name. The style sheet has
// the style of the report, additions for the page, and one class for each colour.
func serveStyle(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { writeStyle(w, name) }
}

// writeStyle writes a style sheet of the page as the response.
func writeStyle(w http.ResponseWriter, name string) {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var b strings.Builder
	b.WriteString(pagestyle.Text())
	b.Write(text)
	for k := range figure.ColourCount {
		fill, ink := figure.Colour(k).Hex()
		fmt.Fprintf(&b, ".c%d { background: %s; color: %s; fill: %[2]s; }\n", k, fill, ink)
		if figure.Colour(k).Banded() {
			fmt.Fprintf(&b, ".c%d { background-image: linear-gradient(to top, %s max(2px, 12%%), transparent 0); }\n", k, ink)
		}
	}
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = io.WriteString(w, b.String())
}

// serveScript serves one JavaScript file of the page.
func serveScript(w http.ResponseWriter, r *http.Request) {
	text, err := assets.ReadFile("assets/js/" + r.PathValue("name"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write(text)
}

const (
	// requestPath is the path to which the page sends each [Request].
	requestPath = "/do"
	// maxRequestBytes is the maximum size, in bytes, of the body of one request.
	maxRequestBytes = 4 << 20
	// maxConcurrentRequestBytes is the maximum total size, in bytes, of the bodies of all requests
	// that are being handled.
	maxConcurrentRequestBytes = 4 * maxRequestBytes
	// bodyTimeout is the maximum time that the body of a request may take to arrive.
	bodyTimeout = 10 * time.Second
)

// serveRequest reads a [Request] from the body of an HTTP request, performs the action and responds
// with an [Answer].
func (s *Session) serveRequest(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	// Connections without deadlines, as in tests, send whole bodies.
	_ = control.SetReadDeadline(time.Now().Add(s.bodyTimeout))
	jsonHandler(func(r *http.Request) (any, error) {
		// A form of another site cannot send this type.
		if r.Header.Get("Content-Type") != "application/json" {
			return nil, &inputerr.Error{Message: "a request is JSON"}
		}
		room := int64(maxRequestBytes)
		if r.ContentLength >= 0 {
			room = min(room, r.ContentLength)
		}
		if !s.bodyByteSemaphore.TryAcquire(room) {
			return nil, errBusy
		}
		defer s.bodyByteSemaphore.Release(room)
		data, err := s.readBody(w, r)
		if err != nil {
			return nil, err
		}
		_ = control.SetReadDeadline(time.Time{}) // the deadline must not end a long action
		request, err := readRequest(data)
		if err != nil {
			return nil, err
		}
		return s.handleRequest(request)
	})(w, r)
}

// readBody reads the body of an HTTP request. It limits the size of the body and the time to
// receive the body.
func (s *Session) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, &inputerr.Error{Message: fmt.Sprintf("the request did not arrive within %v", s.bodyTimeout), Err: err}
	}
	if long := (*http.MaxBytesError)(nil); errors.As(err, &long) {
		return nil, &inputerr.Error{Message: "the request is too long", Err: err}
	}
	if err != nil {
		return nil, &inputerr.Error{Message: "the request did not arrive whole", Err: err}
	}
	return data, nil
}

// errBusy is the error for a request that arrives while the bodies of other requests use all
// available memory.
var errBusy = &inputerr.Error{Message: "too many large requests are being answered", Hint: "try again in a moment"}

// jsonHandler returns a handler that responds with the result of the function respond as JSON. If
// respond returns an error, the response is a [Fault].
func jsonHandler(respond func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		v, err := respond(r)
		var bad *inputerr.Error
		var unkept *notSavedError
		switch {
		case errors.As(err, &unkept):
			status, v = http.StatusInternalServerError, &Fault{Message: err.Error(), Fixes: []FixView{}}
		case errors.Is(err, errBusy):
			status, v = http.StatusServiceUnavailable, &Fault{Message: errBusy.Message, Hint: errBusy.Hint, Fixes: []FixView{}}
		case errors.As(err, &bad):
			status, v = http.StatusBadRequest, &Fault{Message: bad.Message, Hint: bad.Hint, Fixes: []FixView{}}
		case err != nil:
			status, v = http.StatusInternalServerError, &Fault{Message: err.Error(), Fixes: []FixView{}}
		}
		data, err := json.Marshal(v)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(data)
	}
}
