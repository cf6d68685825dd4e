// Package serve shows a problem as a page that a person steers: the shortlist while
// it is drawn, and what can be asked otherwise, as steps of a problem file that the
// command line takes.
//
// The page is served on the person's own machine. See guard for who may ask, and
// hub for how the page hears of what is new.
package serve

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"kir/internal/fault"
	"kir/internal/report/figure"
)

//go:embed assets
var assets embed.FS

// Serve serves a problem until ctx ends.
func Serve(ctx context.Context, o Options) (err error) {
	l, err := lockProblem(o.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.release()) }()
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return &fault.Error{Message: "the page cannot be served at " + fault.Quote(o.Address), Hint: "name an address of this machine, such as 127.0.0.1:8080; port 0 takes one that is free", Err: err}
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	s, err := newSession(working, o)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, s.end()) }()
	address, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		return err
	}
	g := newGuard(address.Addr(), o.Hosts)
	if err := l.tell("http://" + listener.Addr().String() + "/"); err != nil {
		return err
	}
	server := &http.Server{Handler: g.wrap(s.handler()), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	s.begin()
	if o.Begun != nil {
		o.Begun(g.url(listener.Addr()))
	}
	select {
	case err = <-served:
		return err
	case <-ctx.Done():
	}
	s.hub.close() // or the streams would never end
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		return server.Close()
	}
	return nil
}

// handler returns what answers requests that the guard lets in.
func (s *Session) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.servePage)
	mux.HandleFunc("GET /page.css", serveStyle)
	mux.HandleFunc("GET /js/{name}", serveScript)
	mux.Handle("GET /events", s.hub)
	mux.HandleFunc("POST /do", s.serveRequest)
	mux.HandleFunc("GET /amounts", answered(s.amounts))

	mux.HandleFunc("GET /map", answered(s.drawMap))
	mux.HandleFunc("GET /pair", answered(s.pair))
	mux.HandleFunc("GET /text", answered(s.text))
	mux.HandleFunc("GET /list", answered(s.listOf))
	mux.HandleFunc("GET /csv", s.serveTable)
	mux.HandleFunc("GET /weigh", s.serveWeighing)
	mux.HandleFunc("GET /leaves", answered(s.leaves))
	return mux
}

var pageTemplate = template.Must(template.ParseFS(assets, "assets/page.html"))

func (s *Session) servePage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// What is written to a browser that is gone is lost on nobody.
	_ = pageTemplate.Execute(w, filepath.Base(s.file))
}

// serveStyle serves the style sheet, with the colours of the report.
func serveStyle(w http.ResponseWriter, _ *http.Request) {
	text, err := assets.ReadFile("assets/page.css")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	onLight, onDark := figure.Variables()
	var b strings.Builder
	b.WriteString(strings.NewReplacer("LIGHT", onLight, "DARK", onDark).Replace(string(text)))
	for k := range paintCount {
		fill, ink := figure.Colour(k).Hex()
		fmt.Fprintf(&b, ".c%d { background: %s; color: %s; fill: %[2]s; }\n", k, fill, ink)
	}
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = io.WriteString(w, b.String())
}

// paintCount is how many colours there are, the greys among them.
const paintCount = 9

// serveScript serves one of the page's scripts.
func serveScript(w http.ResponseWriter, r *http.Request) {
	text, err := assets.ReadFile("assets/js/" + r.PathValue("name"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write(text)
}

// mostRequest bounds the body of a request.
const mostRequest = 4 << 20

func (s *Session) serveRequest(w http.ResponseWriter, r *http.Request) {
	answered(func(r *http.Request) (any, error) {
		// A form of another site cannot send this type.
		if r.Header.Get("Content-Type") != "application/json" {
			return nil, &fault.Error{Message: "a request is JSON"}
		}
		data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostRequest))
		if err != nil {
			return nil, &fault.Error{Message: "the request is too long"}
		}
		request, err := readRequest(data)
		if err != nil {
			return nil, err
		}
		return s.do(request)
	})(w, r)
}

// answered answers with JSON: what was asked for, or a fault.
func answered(what func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		v, err := what(r)
		var bad *fault.Error
		switch {
		case errors.As(err, &bad):
			status, v = http.StatusBadRequest, &Fault{Message: bad.Message, Hint: bad.Hint, Ways: []Way{}}
		case err != nil:
			status, v = http.StatusInternalServerError, &Fault{Message: err.Error(), Ways: []Way{}}
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
