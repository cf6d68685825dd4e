package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kir/docs"
	"kir/internal/file"
	"kir/internal/mcpserver"
)

// barProblem is a problem whose every tool takes less than a second.
const barProblem = `name: A bar
ingredients: bar.csv
total: 20
sparsity: {uniform: [1, 3]}
properties:
  fresh: {expression: {formula: "share('Lime juice') + share('Syrup')", maximize: true, unit: "%"}}
  cheap: {blend: {attribute: cost, minimize: true}}
constraints:
  - amount: {of: Syrup, max: 25%}
sampler: {kernel: accelerated, chains: 2, warmup: 50, draws: 50, seed: 3}
`

// barTable has the ingredients of barProblem.
const barTable = "name,kind,cost\nGin,spirit,20\nRum,spirit,18\nLime juice,juice,4\nSyrup,sugar,2\n"

// conflictingProblem has constraints that cannot all hold.
const conflictingProblem = `name: Too much
ingredients: bar.csv
total: 20
sparsity: {uniform: [1, 3]}
constraints:
  - require: [Gin, Rum]
  - amount: {of: Gin, min: 60%}
  - amount: {of: Rum, min: 60%}
`

// writeBar writes a directory with a problem.
func writeBar(t *testing.T) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bar.yaml": barProblem, "bar.csv": barTable, "conflict.yaml": conflictingProblem} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// serveAssistant serves a directory to a client, and returns the client's session.
func serveAssistant(t *testing.T, client *mcp.ClientOptions, dirs ...string) *mcp.ClientSession {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	directories, err := file.NewConfinement(dirs[0], dirs[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	s := mcpserver.New(mcpserver.Options{
		Directories: directories, Version: "test", Docs: docs.Files,
		Run:            func(ctx context.Context, c mcpserver.Command) error { return runInProcess(patient(ctx), c) },
		DescribeErrors: func(err error) any { return newErrorsJSON(err, exitStatusOf(err)) },
	})
	ours, theirs := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() { ended <- s.Serve(ctx, ours) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, client).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the server ends with %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the server does not end")
		}
	})
	return session
}

// callTool calls a tool and returns its text and its structured result.
func callTool(t *testing.T, s *mcp.ClientSession, name string, arguments any) (text string, structured map[string]any, isError bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s %v: %v", name, arguments, err)
	}
	for _, c := range r.Content {
		if of, ok := c.(*mcp.TextContent); ok {
			text += of.Text
		}
	}
	structured, _ = r.StructuredContent.(map[string]any)
	return text, structured, r.IsError
}

func TestMCPSmoke(t *testing.T) {
	s := serveAssistant(t, nil, writeBar(t))
	for _, c := range []struct{ name, args string }{
		{"check", `{"problem":"bar.yaml"}`},
		{"sample", `{"problem":"bar.yaml","effort":0.1}`},
		{"shortlist", `{"run":"runs/bar-1","best":2}`},
		{"score", `{"problem":"bar.yaml","table_text":"recipe,ingredient,amount\nmine,Gin,50%\nmine,Lime juice,50%\n"}`},
		{"tradeoff", `{"problem":"bar.yaml","between":["fresh","cheap"],"effort":0.1,"points":3}`},
		{"explain_conflict", `{"problem":"conflict.yaml"}`},
		{"check", `{"problem":"conflict.yaml"}`},
		{"check", `{"problem_text":"name: x\ntotl: 3\n"}`},
		{"check", `{"problem":"../bar.yaml"}`},
	} {
		text, structured, bad := callTool(t, s, c.name, json.RawMessage(c.args))
		j, _ := json.Marshal(structured)
		t.Logf("%s %s: %v\n%s\n%s", c.name, c.args, bad, text, j[:min(len(j), 1500)])
	}
	l, err := s.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range l.Resources {
		c, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI})
		if err != nil {
			t.Error(err)
			continue
		}
		t.Log(r.URI, r.Name, r.Description, len(c.Contents[0].Text), strings.Split(c.Contents[0].Text, "\n")[0])
	}
}
