// Package mcpserver serves kir to assistants by the Model Context Protocol (MCP). A tool is a command
// of kir: the package writes the command line, has it run in process, and returns the command's JSON
// with its text. Resources are the documents of kir, problem files and reports of runs.
//
// A client is not trusted. It may be a language model that read a hostile page, or pass on a hostile
// problem file. Therefore
//
//   - paths stay within the directories of a [file.Confinement], also those in problem files and runs,
//   - buckets are refused unless the options allow them,
//   - a program that a problem names runs only if the user trusted it before, or allows it when the
//     client asks; see call.askConsent,
//   - sizes of arguments, numbers of parallel calls and lengths of texts are bounded.
package mcpserver

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kir/internal/file"
)

// Options says what a server may use, and how it runs commands.
type Options struct {
	Directories  *file.Confinement // directories that clients may use
	AllowBuckets bool              // whether runs may be in S3 buckets
	Version      string            // version of kir
	Docs         fs.FS             // documents, one a topic, such as start.md

	// Run runs a command of kir in this process.
	Run func(ctx context.Context, c Command) error

	// DescribeErrors returns an error as a value that is written as JSON.
	DescribeErrors func(err error) any
}

// A Command is a command line of kir, and what becomes of its output.
type Command struct {
	Args   []string
	Stdout io.Writer // receives the result: JSON, if the arguments ask for it
	Stderr io.Writer // receives messages, maybe from several goroutines
	Text   io.Writer // receives the result as text if Stdout receives JSON

	// Observe receives what the command does at the moment, and which fraction of it is done; 0 means unknown.
	// It may be called from several goroutines.
	Observe func(what string, done float64)
}

// A Server serves kir by the Model Context Protocol.
type Server struct {
	options Options
	mcp     *mcp.Server
	ctx     context.Context // ends when the server stops
	stop    context.CancelFunc
	slots   chan struct{} // has an item for each call that works
	calls   sync.WaitGroup

	mu              sync.Mutex
	allowedCommands map[string]bool // keys of the programs that the user has allowed
	reservedRuns    map[string]bool // directories of runs that are about to be made
}

const (
	// maxCalls is the greatest number of calls that work at a time. Each uses all cores.
	maxCalls = 2
	// maxRequestBytes is the greatest size of a message from a client.
	maxRequestBytes = 4 << 20
	// sessionTimeout is the time after which a session by HTTP ends that sends nothing.
	sessionTimeout = time.Hour
	// endTimeout is how long the server waits for calls to store their work when it ends.
	endTimeout = 10 * time.Second
)

// instructions tells an assistant how the tools go together.
const instructions = `kir finds new recipes (formulations, fragrances, drinks, portfolios) under constraints. A problem is a YAML file; read_document describes it (start, problem).
1. check a problem; if its constraints conflict, explain_conflict names what resolves it.
2. sample draws recipes into a run; shortlist lists the best of a run; tradeoff weighs objectives; score rates given recipes.
3. next chooses a batch to make and measure; record stores results; campaign says where it stands and whether to go on.
Tell the user how far to trust a prediction: each answer says so after the recipes. Paths are relative to the first allowed directory.`

// New returns a server.
func New(o Options) *Server {
	s := &Server{options: o, slots: make(chan struct{}, maxCalls), allowedCommands: make(map[string]bool), reservedRuns: make(map[string]bool)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "kir", Title: "kir", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}, Logger: slog.New(slog.DiscardHandler),
	})
	s.addTools()
	s.addResources()
	return s
}

// ServeStream serves one client that writes its messages to in and reads those of the server from out,
// a line each. It returns when the client closes in, or ctx ends.
func (s *Server) ServeStream(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.Serve(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}, MaxLineLength: maxRequestBytes})
}

// Serve serves one client on a transport, until the client closes it or ctx ends.
func (s *Server) Serve(ctx context.Context, t mcp.Transport) error {
	err := s.mcp.Run(ctx, t)
	s.Close()
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return err
}

// Handler returns the server as a handler of requests by streamable HTTP. It admits everyone: wrap it.
func (s *Server) Handler() http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		MaxRequestBodyBytes: maxRequestBytes, SessionTimeout: sessionTimeout, PropagateRequestCancellation: true,
	})
}

// Close ends all calls and waits until they have stored their work, for some seconds at most.
func (s *Server) Close() {
	s.stop()
	ended := make(chan struct{})
	go func() { s.calls.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(endTimeout):
	}
}

// unclosed is a writer that is left open.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }
