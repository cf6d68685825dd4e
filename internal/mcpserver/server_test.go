package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/testonly/golden"
)

// A recorder stands for kir: it notes the command lines, and answers with little.
type recorder struct {
	mu       sync.Mutex
	commands [][]string
	wait     func(ctx context.Context) error // what a command does; may be nil
}

func (r *recorder) run(ctx context.Context, c Command) error {
	r.mu.Lock()
	r.commands = append(r.commands, c.Args)
	r.mu.Unlock()
	c.Observe("working", 0)
	if r.wait != nil {
		if err := r.wait(ctx); err != nil {
			return err
		}
	}
	_, err := io.WriteString(c.Stdout, `{"best":[{"score":1},{"score":2}],"recipes":[1,2,3],"verdict":"Good.","warnings":["Beware."]}`)
	return err
}

// newTestServer serves a directory with the files p.yaml, t.csv and the run r to a client.
func newTestServer(t testing.TB, r *recorder, buckets bool, client *mcp.ClientOptions) (*Server, *mcp.ClientSession, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"p.yaml": "total: 20\ningredients: [Gin]\n", "t.csv": "recipe,Gin\na,1\n", "r/run.json": "{}", "r/report.html": "<p>page</p>", "secret.yaml": "password: x\n"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	directories, err := file.NewConfinement(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{
		Directories: directories, AllowBuckets: buckets, Version: "test", Run: r.run,
		Docs:           fstest.MapFS{"start.md": {Data: []byte("# Start here\n")}},
		DescribeErrors: func(err error) any { return map[string]any{"errors": len(inputerr.All(err))} },
	})
	ours, theirs := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background(), ours) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, client).Connect(context.Background(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if err := <-ended; err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	return s, session, dir
}

// TestCommandLines: each tool runs the command that its arguments mean, and what the client writes is never a flag.
func TestCommandLines(t *testing.T) {
	r := new(recorder)
	_, session, dir := newTestServer(t, r, true, nil)
	var said strings.Builder
	for _, c := range []string{
		`check {"problem": "p.yaml"}`,
		`check {"problem_text": "total: 3"}`,
		`check {}`,
		`check {"problem": "p.yaml", "problem_text": "total: 3"}`,
		`check {"problem": "p.yaml", "colour": 1}`,
		`check {"problem": 5}`,
		`check {"problem": "--help"}`,
		`check {"problem": "p.yaml\u0000"}`,
		`sample {"problem": "p.yaml"}`,
		`sample {"problem": "p.yaml", "run": "new/run", "draws": 1000, "time": 1.5, "effort": 0.1, "seed": 9007199254740991, "best": 1}`,
		`sample {"problem": "r", "pin": ["3:Gin", "--quiet"], "exclude": ["Rum"], "min": ["Gin=20%"], "max": ["Gin=30%"], "set": ["t=1"], "near": "3=1"}`,
		`sample {"problem": "new.yaml", "problem_text": "total: 20\n"}`,
		`sample {"problem": "new.yaml", "problem_text": "total: 20\n"}`,
		`sample {"problem": "new.yaml", "problem_text": "total: 21\n"}`,
		`sample {"problem": "new.sh", "problem_text": "total: 21\n"}`,
		`sample {"problem": "../new.yaml", "problem_text": "total: 21\n"}`,
		`sample {"resume": "r"}`,
		`sample {"problem": "p.yaml", "draws": 1}`,
		`sample {"problem": "p.yaml", "seed": -1}`,
		`sample {"problem": "p.yaml", "run": "s3://bucket/run"}`,
		`shortlist {"run": "r", "best": 1}`,
		`shortlist {"run": "../r"}`,
		`shortlist {}`,
		`score {"problem": "p.yaml", "table": "t.csv", "limit": 2}`,
		`score {"problem": "p.yaml", "table_text": "recipe,Gin\na,1\n"}`,
		`next {"problem": "p.yaml", "number": 3, "seed": 4, "given": ["humidity=40"]}`,
		`record {"problem": "p.yaml", "table": "t.csv", "correct": true}`,
		`record {"problem": "p.yaml", "recipe": "B1-1", "results": {"liking": 71.5, "haze": "failed", "--correct": 1}}`,
		`record {"problem": "p.yaml", "recipe": "-", "made": "Gin=100%"}`,
		`record {"problem": "p.yaml", "recipe": "B1-1", "results": {"a=b": 1}}`,
		`record {"problem": "p.yaml", "recipe": "B1-1", "results": {"a": [1]}}`,
		`record {"problem": "p.yaml", "recipe": "B1-1"}`,
		`record {"problem": "p.yaml", "recipe": "B1-1", "failed": true}`,
		`record {"problem": "p.yaml", "recipe": "B1-1", "table": "t.csv"}`,
		`record {"problem": "p.yaml", "results": {"liking": 1}}`,
		`campaign {"problem": "p.yaml", "given": ["humidity=40"]}`,
		`tradeoff {"problem": "p.yaml", "between": ["a, b", "c \"d\""], "points": 2, "effort": 2, "seed": 1}`,
		`tradeoff {"problem": "r"}`,
		`tradeoff {"problem": "s3://bucket/run"}`,
		`read_document {"topic": "start"}`,
		`read_document {"topic": "../start"}`,
	} {
		r.commands = nil
		name, arguments, _ := strings.Cut(c, " ")
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		fmt.Fprintf(&said, "> %s\n", c)
		for _, args := range r.commands {
			fmt.Fprintf(&said, "kir %q\n", args)
		}
		if result.IsError || name == "read_document" || name == "shortlist" || name == "score" {
			fmt.Fprintf(&said, "%v: %s\n", result.IsError, strings.TrimRight(result.Content[0].(*mcp.TextContent).Text, "\n"))
		}
		if entries, err := filepath.Glob(filepath.Join(dir, ".kir-mcp-*")); err != nil || len(entries) > 0 {
			t.Errorf("%s leaves %q", c, entries)
		}
	}
	text := strings.ReplaceAll(said.String(), dir, "DIR")
	golden.Compare(t, "testdata/commands.txt", []byte(temporaryNames.ReplaceAllString(text, ".kir-mcp-N.")))
}

// TestBuckets: without leave, no tool reaches a bucket.
func TestBuckets(t *testing.T) {
	r := new(recorder)
	_, session, _ := newTestServer(t, r, false, nil)
	for _, c := range []struct{ name, arguments string }{
		{"sample", `{"problem": "s3://bucket/run"}`}, {"sample", `{"problem": "p.yaml", "run": "s3://bucket/run"}`}, {"sample", `{"resume": "s3://bucket/run"}`},
		{"shortlist", `{"run": "s3://bucket/run"}`}, {"tradeoff", `{"problem": "s3://bucket/run"}`}, {"check", `{"problem": "s3://bucket/run"}`},
	} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.name, Arguments: json.RawMessage(c.arguments)})
		if err != nil || !result.IsError || len(r.commands) > 0 || !strings.Contains(result.Content[0].(*mcp.TextContent).Text, "--allow-buckets") {
			t.Errorf("%v: %v, %q runs", c, err, r.commands)
		}
	}
}

// TestTools compares the descriptions that clients receive of the tools with a file.
func TestTools(t *testing.T) {
	_, session, _ := newTestServer(t, new(recorder), false, nil)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(list.Tools, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/tools.json", append(text, '\n'))
	for _, tool := range list.Tools {
		schema, ok := tool.InputSchema.(map[string]any)
		if !ok || len(tool.Description) < 40 || tool.Annotations == nil {
			t.Errorf("%s: %v", tool.Name, tool)
			continue
		}
		properties, ok := schema["properties"].(map[string]any)
		if !ok {
			t.Errorf("%s has no arguments", tool.Name)
		}
		for name, of := range properties {
			p := of.(map[string]any)
			bounded := p["maximum"] != nil && p["minimum"] != nil || p["maxLength"] != nil || p["maxItems"] != nil || p["maxProperties"] != nil || p["type"] == "boolean" || p["enum"] != nil
			if p["description"] == nil || !bounded {
				t.Errorf("the argument %s of %s has no description or no bound: %v", name, tool.Name, p)
			}
		}
	}
}

// TestProgress: a client that wants to know hears what a call does, in growing numbers, and its end ends the call.
func TestProgress(t *testing.T) {
	heard := make(chan *mcp.ProgressNotificationParams, 100)
	r := new(recorder)
	s, session, _ := newTestServer(t, r, false, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
		heard <- request.Params
	}})
	ended := make(chan struct{})
	r.wait = func(ctx context.Context) error {
		defer close(ended)
		<-ctx.Done()
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	params := &mcp.CallToolParams{Name: "campaign", Arguments: map[string]any{"problem": "p.yaml"}}
	params.SetProgressToken("token")
	returned := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, params)
		returned <- err
	}()
	if n := <-heard; n.Message != "working" || n.ProgressToken != "token" || n.Progress <= 0 {
		t.Errorf("the client hears %v", n)
	}
	cancel()
	if err := <-returned; err == nil {
		t.Error("a call that was cancelled returns")
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the work goes on")
	}
	p := &progress{ctx: t.Context(), session: nil, token: nil}
	p.observe("nobody listens", 0.5)
	for range maxCalls { // the call has given its slot back
		release, err := s.acquireSlot(t.Context(), func() { t.Error("a slot is taken") })
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	waited := false
	ended2, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.acquireSlot(ended2, func() { waited = true }); err == nil || !waited {
		t.Error("more calls work than may")
	}
}

// TestParallelRuns: runs that are made at the same time get names of their own.
func TestParallelRuns(t *testing.T) {
	r := new(recorder)
	_, session, _ := newTestServer(t, r, false, nil)
	var both sync.WaitGroup
	both.Add(2)
	r.wait = func(context.Context) error {
		both.Done()
		both.Wait()
		return nil
	}
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "sample", Arguments: map[string]any{"problem": "p.yaml"}}); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if slices.Equal(r.commands[0], r.commands[1]) {
		t.Errorf("both runs are made by kir %q", r.commands[0])
	}
}

// TestResources: documents, problem files and reports can be read, and nothing else.
func TestResources(t *testing.T) {
	r := new(recorder)
	_, session, dir := newTestServer(t, r, false, nil)
	list, err := session.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var uris []string
	for _, of := range list.Resources {
		uris = append(uris, of.URI)
	}
	if want := []string{"kir://docs/start", "kir://problems/p.yaml", "kir://runs/r/report.txt"}; !slices.Equal(uris, want) {
		t.Errorf("the resources are %q, not %q", uris, want)
	}
	templates, err := session.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 4 {
		t.Errorf("%v templates, %v", templates, err)
	}
	for uri, want := range map[string]string{
		"kir://docs/start": "# Start here\n", "kir://problems/p.yaml": "total: 20\ningredients: [Gin]\n", "kir://problems/r/../p.yaml": "total: 20\ningredients: [Gin]\n",
		"kir://runs/r/report.html": "<p>page</p>", "kir://runs/r/report.txt": `{"best"`, "kir://runs/r/summary.json": `{"best"`,
		"kir://problems/" + url.PathEscape(dir+"/p.yaml"): "total: 20\ningredients: [Gin]\n",
		"kir://problems/secret.yaml":                      "", "kir://problems/t.csv": "", "kir://problems/../p.yaml": "", "kir://problems/%2e%2e/p.yaml": "", "kir://problems//etc/passwd": "",
		"kir://problems/p.yaml%00": "", "kir://problems/%zz": "", "kir://docs/other": "", "kir://docs/../p.yaml": "", "kir://runs/..%2fr/report.html": "", "kir://runs/./report.html": "",
		"kir://runs/s3:%2f%2fbucket/report.txt": "", "file:///etc/passwd": "", "kir://problems/": "",
	} {
		result, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		switch {
		case want == "" && err == nil:
			t.Errorf("%s is %q", uri, result.Contents[0].Text)
		case want != "" && err != nil:
			t.Errorf("%s: %v", uri, err)
		case want != "" && !strings.HasPrefix(result.Contents[0].Text, want):
			t.Errorf("%s is %q", uri, result.Contents[0].Text)
		}
	}
}

// TestShorten: a text loses whole lines in the middle, and stays text.
func TestShorten(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "abcd\nefg": "abcd\nefg", "ab\ncd\nef\ngh\ni": "ab\ncd\n… left out …\ni", "abcdefghijkl": "abcdef… left out …\nkl", "éééééééé": "ééé… left out …\né", "\xff": "\uFFFD",
	} {
		if got := shorten(text, 8); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
}
