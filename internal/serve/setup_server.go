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

// setupPath is the path of the requests of the setup page.
const setupPath = "/begin/"

// uploadTime limits how long a table may take to arrive.
const uploadTime = time.Minute

//go:embed assets/examples
var exampleFiles embed.FS

// An ExampleName names an example that the page offers.
type ExampleName struct {
	Key         string `json:"key"`
	Name        string `json:"name"`
	Description string `json:"says"`
}

// exampleNames returns the examples.
func exampleNames() []ExampleName {
	return []ExampleName{
		{"drinks", "Drinks", "69 cocktails with what they taste of, and the kinds of 63 ingredients"},
		{"lotion", "A lotion", "48 formulas with viscosity and stability; prices, maxima and stock of 12 raw materials"},
		{"funds", "A portfolio", "ten years of monthly prices of 8 funds"},
	}
}

// openExample opens an example.
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

// A setupServer serves the setup page until the problem is written. From then on it serves the
// session of that problem.
type setupServer struct {
	setup       *setup
	openSession func(file string) (http.Handler, error) // starts the session of a problem
	ctx         context.Context
	session     atomic.Pointer[http.Handler]
	handler     http.Handler
}

func newSetupServer(ctx context.Context, b *setup, opened func(string) (http.Handler, error)) *setupServer {
	s := &setupServer{setup: b, openSession: opened, ctx: ctx}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", serveDocument("begin.html"))
	mux.HandleFunc("GET /begin.css", serveStyle("begin.css"))
	mux.HandleFunc("GET /js/{name}", serveScript)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET "+setupPath+"view", jsonHandler(func(r *http.Request) (any, error) { return s.applyAndView(r, nil) }))
	mux.HandleFunc("POST "+setupPath+"table", s.withBody("application/octet-stream", mostUpload, func(r *http.Request, data []byte) (any, error) {
		of := tableKind(r.URL.Query().Get("of"))
		if of != ingredientsTable {
			of = recipesTable
		}
		return s.applyAndView(r, func(_ context.Context, b *setup) error { return b.addTable(of, r.URL.Query().Get("name"), data) })
	}))
	mux.HandleFunc("POST "+setupPath+"example", s.withBody("application/json", mostRequest, func(r *http.Request, data []byte) (any, error) {
		a, err := readAnswer(data)
		if err != nil {
			return nil, err
		}
		return s.applyAndView(r, func(_ context.Context, b *setup) error { return b.openExample(a.Name) })
	}))
	mux.HandleFunc("POST "+setupPath+"answer", s.withBody("application/json", mostRequest, func(r *http.Request, data []byte) (any, error) {
		a, err := readAnswer(data)
		if err != nil {
			return nil, err
		}
		return s.applyAndView(r, func(ctx context.Context, b *setup) error { return b.applyAnswer(ctx, a) })
	}))
	mux.HandleFunc("POST "+setupPath+"go", s.withBody("application/json", mostRequest, func(r *http.Request, _ []byte) (any, error) { return s.finish(r) }))
	s.handler = mux
	return s
}

func (s *setupServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s.session.Load(); h != nil {
		if strings.HasPrefix(r.URL.Path, setupPath) {
			jsonHandler(func(*http.Request) (any, error) { return nil, errMade })(w, r)
			return
		}
		(*h).ServeHTTP(w, r)
		return
	}
	s.handler.ServeHTTP(w, r)
}

// requestContext returns a context that ends when the client of a request leaves or the server
// stops.
func (s *setupServer) requestContext(r *http.Request) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(r.Context())
	still := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { still(); cancel() }
}

// applyAndView calls do, unless nil, with the setup and returns the view of the page after
// that. Requests read tables one at a time. If the client leaves before the end, the setup
// stays unchanged and the next request proceeds.
func (s *setupServer) applyAndView(r *http.Request, do func(ctx context.Context, b *setup) error) (any, error) {
	ctx, stop := s.requestContext(r)
	defer stop()
	b := s.setup
	if err := b.acquire(ctx); err != nil {
		return nil, err
	}
	defer b.release()
	tables, answers := maps.Clone(b.tables), b.answers
	if do != nil {
		if err := do(ctx, b); err != nil {
			return nil, err
		}
	}
	v, err := b.view(ctx)
	if ctx.Err() != nil {
		b.tables, b.answers = tables, answers
	}
	return v, err
}

// finish writes the problem and starts its session.
func (s *setupServer) finish(r *http.Request) (any, error) {
	ctx, stop := s.requestContext(r)
	defer stop()
	b := s.setup
	if err := b.acquire(ctx); err != nil {
		return nil, err
	}
	defer b.release()
	file, err := b.write(ctx)
	if err != nil {
		return nil, pageError(err)
	}
	h, err := s.openSession(file)
	if err != nil {
		return nil, &inputerr.Error{Message: fmt.Sprintf("%s was written, and cannot be shown: %v", inputerr.Quote(file), err), Hint: "end kir serve, and start it with the file"}
	}
	s.session.Store(&h)
	return map[string]string{"file": file}, nil
}

// pageError converts an error about the tables or the problem to one that the page can show.
func pageError(err error) error {
	e := &inputerr.Error{Message: err.Error(), Err: err}
	single := (*inputerr.Error)(nil)
	if errors.As(err, &single) {
		e.Message, e.Hint = single.Message, single.Hint
	}
	if errors.As(err, new(*compile.ConflictError)) {
		e.Hint = strings.TrimPrefix(e.Hint+", or take a check away under \"What must hold?\"", ", ")
	}
	return e
}

// readAnswer parses an answer.
func readAnswer(data []byte) (a answer, err error) {
	if err := json.Unmarshal(data, &a); err != nil {
		return a, &inputerr.Error{Message: "the answer cannot be read", Err: err}
	}
	return a, nil
}

// withBody returns a handler for requests with a body of a type and a limited size.
func (s *setupServer) withBody(kind string, most int64, what func(*http.Request, []byte) (any, error)) http.HandlerFunc {
	var one sync.Mutex // tables are large, so only one arrives at a time
	return func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		// Connections without deadlines, as in tests, send whole bodies.
		_ = control.SetReadDeadline(time.Now().Add(uploadTime))
		jsonHandler(func(r *http.Request) (any, error) {
			// A form of another site cannot send these types.
			if r.Header.Get("Content-Type") != kind {
				return nil, &inputerr.Error{Message: "this request is " + kind}
			}
			if r.ContentLength > most {
				return nil, &inputerr.Error{Message: fmt.Sprintf("the table has more than %d MiB", most>>20), Hint: "save the sheet with the recipes alone, or as CSV"}
			}
			if !one.TryLock() {
				return nil, errBusy
			}
			defer one.Unlock()
			data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
			if long := (*http.MaxBytesError)(nil); errors.As(err, &long) {
				return nil, &inputerr.Error{Message: fmt.Sprintf("the table has more than %d MiB", most>>20), Hint: "save the sheet with the recipes alone, or as CSV", Err: err}
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil, &inputerr.Error{Message: fmt.Sprintf("the table did not arrive within %v", uploadTime), Err: err}
			}
			if err != nil {
				return nil, &inputerr.Error{Message: "the table did not arrive whole", Err: err}
			}
			_ = control.SetReadDeadline(time.Time{}) // the deadline must not end a long action
			return what(r, data)
		})(w, r)
	}
}

// An opener starts the session of a problem, at most once.
type opener struct {
	ctx     context.Context
	options Options
	address string // the address to store in the lock's file

	mu      sync.Mutex
	session *Session
	lock    *lock
}

// open starts the session of a problem and returns the handler of its page.
func (o *opener) open(file string) (_ http.Handler, err error) {
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
	if err := l.writeAddress(o.address); err != nil {
		return nil, errors.Join(err, s.end(), l.release())
	}
	o.session, o.lock = s, l
	s.startWork()
	return s.handler(), nil
}

// closeStreams closes the streams of the session, if there is one.
func (o *opener) closeStreams() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.session != nil {
		o.session.hub.close()
	}
}

// end ends the session, if there is one.
func (o *opener) end() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.session == nil {
		return nil
	}
	return errors.Join(o.session.closeAtExit(), o.lock.release())
}

// Handler returns the handler of a problem's page, or of the page of [ServeSetup] if o.File is
// empty. It is for a program that carries requests in another way than by a port. That program
// decides who may send requests.
func Handler(ctx context.Context, o Options, begin SetupOptions) (http.Handler, error) {
	sessions := &opener{ctx: ctx, options: o}
	if o.File != "" {
		return sessions.open(o.File)
	}
	b, err := newSetup(ctx, begin)
	if err != nil {
		return nil, err
	}
	return newSetupServer(ctx, b, sessions.open), nil
}

// ServeSetup serves the page that makes a problem from a table, and then that problem, until
// ctx ends. It replaces o.File and o.Text by those of the new problem.
func ServeSetup(ctx context.Context, o Options, begin SetupOptions) (err error) {
	b, err := newSetup(ctx, begin)
	if err != nil {
		return err
	}
	room, err := newScratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, room.end()) }()
	certificate, err := o.certificate()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return unserved(o.Address, err)
	}
	address, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	g := newGuard(address, o.scheme(), o.Hosts)
	sessions := &opener{ctx: working, options: o, address: g.url()}
	server := newSetupServer(working, b, sessions.open)
	defer func() { err = errors.Join(err, sessions.end()) }()
	again := func(address string) {
		if o.OnNewAddress != nil {
			o.OnNewAddress(address)
		}
	}
	door, err := writeLaunchFile(room, g, func(error) {})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return serveUntilDone(ctx, listener, certificate, g.wrap(server), func() {
		if o.OnReady != nil {
			o.OnReady(renewableAddress(g, again), door)
		}
	}, sessions.closeStreams)
}
