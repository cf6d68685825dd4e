package serve

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kir/internal/compile"
	"kir/internal/inputerr"
)

// setupPathPrefix is the beginning of the path of every request from the setup page.
const setupPathPrefix = "/begin/"

// uploadTimeout is the maximum time that an uploaded table may take to arrive.
const uploadTimeout = time.Minute

// exampleFiles has the tables of the examples that the setup page offers.
//
//go:embed assets/examples
var exampleFiles embed.FS

// An ExampleName has the name and the description of one example that the setup page offers.
type ExampleName struct {
	Key         string `json:"key"` // name of the example's file, without the extension
	Name        string `json:"name"`
	Description string `json:"says"`
}

// exampleNames returns the examples that the setup page offers.
func exampleNames() []ExampleName {
	return []ExampleName{
		{"drinks", "Drinks", "69 cocktails with their tastes, and 63 ingredients by kind"},
		{"lotion", "A lotion", "48 formulas with viscosity and stability; prices, maxima and stock of 12 raw materials"},
		{"funds", "A portfolio", "ten years of monthly prices of 8 funds"},
	}
}

// openExample opens the tables of the example with the given key.
func (b *setup) openExample(key string) error {
	if !slices.ContainsFunc(exampleNames(), func(e ExampleName) bool { return e.Key == key }) {
		return &inputerr.Error{Message: "there is no example " + inputerr.Quote(key)}
	}
	data, err := exampleFiles.ReadFile("assets/examples/" + key + ".csv")
	if err != nil {
		return err
	}
	if err := b.addTable(recipesTable, key+".csv", data); err != nil {
		return err
	}
	if data, err = exampleFiles.ReadFile("assets/examples/" + key + "-ingredients.csv"); err == nil {
		return b.addTable(ingredientsTable, key+"-ingredients.csv", data)
	}
	return nil
}

// A setupServer serves the setup page until the problem file is written, and after that the page of
// the problem.
type setupServer struct {
	setup          *setup
	openSession    func(file string) (http.Handler, error) // starts the session of the problem in a file and returns the handler of the problem's page
	ctx            context.Context
	sessionHandler atomic.Pointer[http.Handler] // handler of the problem's page; nil until the problem file is written
	setupHandler   http.Handler                 // handler of the setup page
}

// newSetupServer returns a server of the setup page for the setup b. The function opened starts the
// session of the problem in a file and returns the handler of the problem's page.
func newSetupServer(ctx context.Context, b *setup, opened func(string) (http.Handler, error)) *setupServer {
	s := &setupServer{setup: b, openSession: opened, ctx: ctx}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", serveDocument("begin.html"))
	mux.HandleFunc("GET /begin.css", serveStyle("begin.css"))
	mux.HandleFunc("GET /js/{name}", serveScript)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET "+setupPathPrefix+"view", jsonHandler(func(r *http.Request) (any, error) { return s.applyAndView(r, nil) }))
	mux.HandleFunc("POST "+setupPathPrefix+"table", s.withBody("application/octet-stream", maxUploadBytes, func(r *http.Request, data []byte) (any, error) {
		of := tableKind(r.URL.Query().Get("of"))
		if of != ingredientsTable {
			of = recipesTable
		}
		return s.applyAndView(r, func(_ context.Context, b *setup) error { return b.addTable(of, r.URL.Query().Get("name"), data) })
	}))
	mux.HandleFunc("POST "+setupPathPrefix+"example", s.withBody("application/json", maxRequestBytes, func(r *http.Request, data []byte) (any, error) {
		a, err := readAnswer(data)
		if err != nil {
			return nil, err
		}
		return s.applyAndView(r, func(_ context.Context, b *setup) error { return b.openExample(a.Name) })
	}))
	mux.HandleFunc("POST "+setupPathPrefix+"answer", s.withBody("application/json", maxRequestBytes, func(r *http.Request, data []byte) (any, error) {
		a, err := readAnswer(data)
		if err != nil {
			return nil, err
		}
		return s.applyAndView(r, func(ctx context.Context, b *setup) error { return b.applyAnswer(ctx, a) })
	}))
	mux.HandleFunc("POST "+setupPathPrefix+"go", s.withBody("application/json", maxRequestBytes, func(r *http.Request, _ []byte) (any, error) { return s.writeAndStartSession(r) }))
	s.setupHandler = mux
	return s
}

// ServeHTTP passes a request to the page of the problem if the problem file was written, and
// otherwise to the setup page.
func (s *setupServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s.sessionHandler.Load(); h != nil {
		if strings.HasPrefix(r.URL.Path, setupPathPrefix) {
			jsonHandler(func(*http.Request) (any, error) { return nil, errAlreadyMade })(w, r)
			return
		}
		(*h).ServeHTTP(w, r)
		return
	}
	s.setupHandler.ServeHTTP(w, r)
}

// requestContext returns a context that ends when the client cancels the request or the server
// stops.
func (s *setupServer) requestContext(r *http.Request) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(r.Context())
	still := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { still(); cancel() }
}

// applyAndView calls useSetup with the setup, unless useSetup is nil, and returns the new contents
// of the page. Only one request at a time uses the setup. If the client cancels the request, the
// setup stays unchanged.
func (s *setupServer) applyAndView(r *http.Request, useSetup func(ctx context.Context, b *setup) error) (any, error) {
	ctx, stop := s.requestContext(r)
	defer stop()
	b := s.setup
	if err := b.acquire(ctx); err != nil {
		return nil, err
	}
	defer b.release()
	tables, answers := maps.Clone(b.tables), b.answers
	if useSetup != nil {
		if err := useSetup(ctx, b); err != nil {
			return nil, err
		}
	}
	v, err := b.view(ctx)
	if ctx.Err() != nil {
		b.tables, b.answers = tables, answers
	}
	return v, err
}

// writeAndStartSession writes the problem file and starts the session of the problem.
func (s *setupServer) writeAndStartSession(r *http.Request) (any, error) {
	ctx, stop := s.requestContext(r)
	defer stop()
	b := s.setup
	if err := b.acquire(ctx); err != nil {
		return nil, err
	}
	defer b.release()
	file, err := b.writeProblem(ctx)
	if err != nil {
		return nil, convertToPageError(err)
	}
	if b.options.OnWritten != nil {
		b.options.OnWritten(file)
	}
	h, err := s.openSession(file)
	if err != nil {
		if b.options.HidePaths {
			return nil, &inputerr.Error{Message: fmt.Sprintf("the problem was made, and cannot be shown: %v", err), Hint: "load this page again"}
		}
		return nil, &inputerr.Error{Message: fmt.Sprintf("%s was written, and cannot be shown: %v", inputerr.Quote(file), err), Hint: "end kir serve, and start it with the file"}
	}
	s.sessionHandler.Store(&h)
	return map[string]string{"file": file}, nil
}

// convertToPageError converts an error about the tables or the problem to an error that the page
// can show.
func convertToPageError(err error) error {
	e := &inputerr.Error{Message: err.Error(), Err: err}
	single := (*inputerr.Error)(nil)
	if errors.As(err, &single) {
		e.Message, e.Hint = single.Message, single.Hint
	}
	if errors.As(err, new(*compile.ConflictError)) {
		e.Hint = strings.TrimPrefix(e.Hint+", or remove a check mark under \"Which constraints apply?\"", ", ")
	}
	return e
}

// readAnswer decodes an answer from JSON.
func readAnswer(data []byte) (a answer, err error) {
	if err := json.Unmarshal(data, &a); err != nil {
		return a, &inputerr.Error{Message: "the answer cannot be read", Err: err}
	}
	return a, nil
}

// withBody returns a handler that reads the body of a request and calls the function respond. The
// body must have the given content type and at most maxBytes bytes.
func (s *setupServer) withBody(contentType string, maxBytes int64, respond func(*http.Request, []byte) (any, error)) http.HandlerFunc {
	var one sync.Mutex // tables are large, so only one arrives at a time
	return func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		// Connections without deadlines, as in tests, send whole bodies.
		_ = control.SetReadDeadline(time.Now().Add(uploadTimeout))
		jsonHandler(func(r *http.Request) (any, error) {
			// A form of another site cannot send these types.
			if r.Header.Get("Content-Type") != contentType {
				return nil, &inputerr.Error{Message: "this request is " + contentType}
			}
			if r.ContentLength > maxBytes {
				return nil, &inputerr.Error{Message: fmt.Sprintf("the table has more than %d MiB", maxBytes>>20), Hint: "save the sheet with the recipes alone, or as CSV"}
			}
			if !one.TryLock() {
				return nil, errBusy
			}
			defer one.Unlock()
			data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
			if long := (*http.MaxBytesError)(nil); errors.As(err, &long) {
				return nil, &inputerr.Error{Message: fmt.Sprintf("the table has more than %d MiB", maxBytes>>20), Hint: "save the sheet with the recipes alone, or as CSV", Err: err}
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil, &inputerr.Error{Message: fmt.Sprintf("the table did not arrive within %v", uploadTimeout), Err: err}
			}
			if err != nil {
				return nil, &inputerr.Error{Message: "the table did not arrive whole", Err: err}
			}
			_ = control.SetReadDeadline(time.Time{}) // the deadline must not end a long action
			return respond(r, data)
		})(w, r)
	}
}

// A sessionOpener starts the session of a problem at most once.
type sessionOpener struct {
	ctx         context.Context
	options     Options
	pageAddress string // address of the page, which is stored beside the problem for the next process

	mu      sync.Mutex
	session *Session
	lock    *problemLock
}

// openSession starts the session of the problem in a file and returns the handler of the problem's
// page.
func (o *sessionOpener) openSession(file string) (_ http.Handler, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.options.File, o.options.Text = file, nil
	l, err := lockProblem(file)
	if err != nil {
		return nil, err
	}
	s, err := newSession(o.ctx, o.options)
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	if err := l.writeAddress(o.pageAddress); err != nil {
		return nil, errors.Join(err, s.endAllWork(), l.release())
	}
	o.session, o.lock = s, l
	s.startWork()
	return s.handler(), nil
}

// closeStreams ends the streams of all open pages of the session, if there is a session.
func (o *sessionOpener) closeStreams() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.session != nil {
		o.session.hub.close()
	}
}

// endSession ends the session, if there is one.
func (o *sessionOpener) endSession() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.session == nil {
		return nil
	}
	return errors.Join(o.session.closeAtExit(), o.lock.release())
}

// Handler returns the handler of the page of the problem o.File. If o.File is empty, it returns the
// handler of the setup page; see [ServeSetup]. Handler is for programs that receive requests
// without a network port. Such a program must itself decide who may send requests.
func Handler(ctx context.Context, o Options, begin SetupOptions) (http.Handler, error) {
	sessions := &sessionOpener{ctx: ctx, options: o}
	if o.File != "" {
		return sessions.openSession(o.File)
	}
	b, err := newSetup(ctx, begin)
	if err != nil {
		return nil, err
	}
	sessions.options.modelCache = b.modelCache
	return newSetupServer(ctx, b, sessions.openSession), nil
}

// ServeSetup serves the setup page, which makes a problem from a table. After the problem file is
// written, ServeSetup serves the page of this problem until ctx ends. It ignores o.File and o.Text.
func ServeSetup(ctx context.Context, o Options, begin SetupOptions) (err error) {
	b, err := newSetup(ctx, begin)
	if err != nil {
		return err
	}
	room, err := newScratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, room.remove()) }()
	certificate, err := o.certificate()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return listenError(o.Address, err)
	}
	address, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	g := newGuard(address, o.scheme(), o.Hosts)
	o.modelCache = b.modelCache
	sessions := &sessionOpener{ctx: working, options: o, pageAddress: g.pageURL()}
	server := newSetupServer(working, b, sessions.openSession)
	defer func() { err = errors.Join(err, sessions.endSession()) }()
	again := func(address string) {
		if o.OnNewAddress != nil {
			o.OnNewAddress(address)
		}
	}
	door, err := createLaunchFile(room, g, func(error) {})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return serveUntilDone(ctx, listener, certificate, g.requireAdmission(server), func() {
		if o.OnReady != nil {
			o.OnReady(newRenewingAddress(g, again), door)
		}
	}, sessions.closeStreams)
}
