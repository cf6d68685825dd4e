package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
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

// tastingProblem is a problem of a campaign, with some results.
const tastingProblem = `name: A tasting
recipes: tasting.csv
total: 20
sparsity: {uniform: [1, 3]}
properties:
  liking: {process: {label: liking, maximize: true}}
`

// tastingTable has the recipes of tastingProblem.
const tastingTable = `recipe,Gin,Rum,Lime juice,Syrup,liking
a,10,0,8,2,6
b,12,0,8,0,4
c,0,10,7,3,7
d,0,14,6,0,3
e,8,0,8,4,6.5
f,0,9,8,3,7.5
g,16,0,4,0,2
h,0,12,5,3,5
`

// writeBar writes a directory with problems.
func writeBar(t *testing.T) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bar.yaml": barProblem, "bar.csv": barTable, "conflict.yaml": conflictingProblem, "tasting.yaml": tastingProblem, "tasting.csv": tastingTable, "mine.csv": "recipe,ingredient,amount\nmine,Gin,50%\nmine,Lime juice,50%\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// serveAssistant serves directories to a client, and returns the client's session.
func serveAssistant(t *testing.T, client *mcp.ClientOptions, dirs ...string) *mcp.ClientSession {
	t.Helper()
	return serveAssistantAt(t, "", client, dirs...)
}

// serveAssistantAt is like serveAssistant, with a client of a version of the protocol.
func serveAssistantAt(t *testing.T, version string, client *mcp.ClientOptions, dirs ...string) *mcp.ClientSession {
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
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, client).Connect(t.Context(), theirs, &mcp.ClientSessionOptions{ProtocolVersion: version})
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

// TestMCPTools: each tool answers with what its command prints, as JSON and as text.
func TestMCPTools(t *testing.T) {
	dir := writeBar(t)
	s := serveAssistant(t, nil, dir)
	kir := func(args ...string) (out string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if err := execute(patient(t.Context()), args, &stdout, &stderr); err != nil {
			t.Fatalf("kir %q: %v", args, err)
		}
		return stdout.String()
	}
	decode := func(text string) (v map[string]any) {
		t.Helper()
		if err := json.Unmarshal([]byte(strings.ReplaceAll(text, dir+"/", "")), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	bar, tasting := filepath.Join(dir, "bar.yaml"), filepath.Join(dir, "tasting.yaml")
	batch := filepath.Join(dir, "tasting.batch-001.csv")
	for _, c := range []struct {
		tool, arguments string
		command         []string // that prints the same
		has             string   // text of the answer
	}{
		{"check", `{"problem": "bar.yaml"}`, []string{"check", "--json", bar}, "486"},
		{"score", `{"problem": "bar.yaml", "table": "mine.csv"}`, []string{"score", "--json", bar, filepath.Join(dir, "mine.csv")}, "mine"},
		{"score", `{"problem": "bar.yaml", "table_text": "recipe,ingredient,amount\nmine,Gin,50%\nmine,Lime juice,50%\n"}`, []string{"score", "--json", bar, filepath.Join(dir, "mine.csv")}, "mine"},
		{"tradeoff", `{"problem": "bar.yaml", "between": ["fresh", "cheap"], "effort": 0.1, "points": 3}`, []string{"tradeoff", "--json", "--between=fresh,cheap", "--effort=0.1", "--points=3", bar}, "trade-off"},
		{"next", `{"problem": "tasting.yaml", "number": 2, "seed": 5}`, []string{"next", "--json", "-n", "2", "--seed=5", tasting}, "tasting.batch-001.csv"},
		{"record", `{"problem": "tasting.yaml", "recipe": "B1-1", "results": {"liking": 5}}`, nil, "1 result added"},
		{"record", `{"problem": "tasting.yaml", "recipe": "B1-1", "results": {"liking": 5}}`, []string{"record", "--json", tasting, "B1-1", "liking=5"}, "1 result known already"},
		{"record", `{"problem": "tasting.yaml", "table": "tasting.batch-001.csv"}`, []string{"record", "--json", tasting, batch}, ""},
		{"campaign", `{"problem": "tasting.yaml"}`, []string{"campaign", "--json", tasting}, "B1-2"},
	} {
		text, structured, isError := callTool(t, s, c.tool, json.RawMessage(c.arguments))
		if isError || !strings.Contains(text, c.has) || strings.Contains(text, dir) || strings.Contains(text, ".kir-mcp") {
			t.Errorf("%s %s answers\n%s", c.tool, c.arguments, text)
		}
		if c.command == nil {
			continue
		}
		want := decode(kir(c.command...))
		if !reflect.DeepEqual(structured, want) {
			t.Errorf("%s %s is\n%v\nand kir %q prints\n%v", c.tool, c.arguments, structured, c.command, want)
		}
	}

	text, structured, isError := callTool(t, s, "sample", json.RawMessage(`{"problem": "bar.yaml", "effort": 0.1, "best": 2}`))
	first, trust, following := strings.Index(text, " 1  score"), strings.Index(text, "Suggestions score"), strings.Index(text, "Next:")
	if isError || first < 0 || trust < first || following < trust {
		t.Errorf("sample answers\n%s", text)
	}
	summary := decode(kir("show", "--json", filepath.Join(dir, "runs/bar-1")))
	if best := structured["best"].([]any); structured["run"] != "runs/bar-1" || len(best) != 2 || !reflect.DeepEqual(best, summary["best"].([]any)[:2]) || !reflect.DeepEqual(structured["warnings"], summary["warnings"]) || structured["verdict"] != summary["verdict"] {
		t.Errorf("sample is %v", structured)
	}
	for _, c := range []struct{ tool, arguments, run string }{
		{"sample", `{"problem": "runs/bar-1", "pin": ["Gin"], "effort": 0}`, "runs/bar-2"},
		{"sample", `{"problem": "my.yaml", "problem_text": "ingredients: bar.csv\ntotal: 20\nsparsity: {uniform: [1, 3]}\n", "effort": 0, "draws": 100}`, "runs/my-1"},
		{"shortlist", `{"run": "runs/bar-1", "best": 3}`, "runs/bar-1"},
	} {
		text, structured, isError := callTool(t, s, c.tool, json.RawMessage(c.arguments))
		if isError || structured["run"] != c.run {
			t.Errorf("%s %s is of the run %v:\n%s", c.tool, c.arguments, structured["run"], text)
		}
	}
	if text, _, isError := callTool(t, s, "tradeoff", json.RawMessage(`{"problem": "runs/bar-1", "between": ["fresh", "cheap"], "effort": 0.1}`)); isError {
		t.Errorf("the trade-off of a run: %s", text)
	}
	for uri, want := range map[string]string{
		"kir://runs/runs/bar-1/report.txt": "A bar", "kir://runs/runs/bar-1/report.html": "<!doctype html>", "kir://runs/runs/bar-1/summary.json": "{",
		"kir://problems/bar.yaml": "name: A bar", "kir://docs/problem": "# The problem file",
	} {
		r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || !strings.HasPrefix(strings.ToLower(r.Contents[0].Text), strings.ToLower(want)) {
			t.Errorf("%s is %v, %v", uri, r, err)
		}
	}
}

// TestMCPErrors: an answer has all errors of a file at once, each with its place and a fix.
func TestMCPErrors(t *testing.T) {
	s := serveAssistant(t, nil, writeBar(t))
	for _, c := range []struct {
		tool, arguments string
		has             []string
	}{
		{"check", `{"problem_text": "totl: 3\ningredients: [Gin]\nsparsity: {uniform: [1, 9]}\nconstraints:\n  - require: [Gim]\n"}`, []string{"problem_text:1:1: ", `did you mean "total"?`, "problem_text:5:15: ", `did you mean "Gin"?`}},
		{"sample", `{"problem": "conflict.yaml"}`, []string{"conflict.yaml:6:5: these constraints cannot all hold", "explain_conflict"}},
		{"explain_conflict", `{"problem_text": "total: -1\n"}`, []string{"problem_text:1:8: "}},
		{"score", `{"problem": "bar.yaml", "table_text": "recipe,ingredient,amount\na,Gim,1\n"}`, []string{"table_text", `"Gim"`}},
		{"shortlist", `{"run": "."}`, []string{"not the directory of a run"}},
		{"record", `{"problem": "tasting.yaml", "recipe": "B9-9", "results": {"liking": 1}}`, []string{"B9-9"}},
		{"sample", `{"problem": "bar.yaml", "draws": 200, "time": 5}`, []string{"leave one of them out"}},
	} {
		text, structured, isError := callTool(t, s, c.tool, json.RawMessage(c.arguments))
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s %s says\n%s\nwithout %q", c.tool, c.arguments, text, want)
			}
		}
		if errors, ok := structured["errors"].([]any); !isError || !ok || len(errors) == 0 {
			t.Errorf("%s %s: %v", c.tool, c.arguments, structured)
		}
	}
	text, structured, isError := callTool(t, s, "explain_conflict", json.RawMessage(`{"problem": "conflict.yaml"}`))
	if fixes, ok := structured["fixes"].([]any); isError || structured["conflict"] != true || !ok || len(fixes) < 3 || !strings.Contains(text, "conflict.yaml:7: Gin: at least 60 %, if used") {
		t.Errorf("the conflict is %v\n%s", structured, text)
	}
	text, structured, isError = callTool(t, s, "explain_conflict", json.RawMessage(`{"problem": "bar.yaml"}`))
	if isError || structured["conflict"] != false || !strings.Contains(text, "No conflict") {
		t.Errorf("without a conflict: %v\n%s", structured, text)
	}
}

// TestMCPStaysInside: no argument, problem file or run makes kir read or write outside of its directories.
func TestMCPStaysInside(t *testing.T) {
	dir, outside := writeBar(t), writeBar(t)
	secret := filepath.Join(outside, "secret.csv")
	if err := os.WriteFile(secret, []byte("name,kind\nHidden,hidden\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link.yaml": filepath.Join(outside, "bar.yaml"), "link.csv": secret, "linked": outside} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	s := serveAssistant(t, nil, dir)
	// A run whose problem is elsewhere, and that has to be summed up again.
	made := filepath.Join(outside, "runs", "bar-1")
	if err := execute(patient(t.Context()), []string{"sample", filepath.Join(outside, "bar.yaml"), "--output", made, "--effort", "0", "--quiet"}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "deep", "er"), 0o777), os.CopyFS(filepath.Join(dir, "deep", "er", "run"), os.DirFS(made)), os.Remove(filepath.Join(dir, "deep", "er", "run", "summary.json"))); err != nil {
		t.Fatal(err)
	}
	before := files(t, outside)
	using := func(file string) string {
		text, err := json.Marshal(map[string]string{"problem_text": "ingredients: " + file + "\ntotal: 20\nsparsity: {uniform: [1, 1]}\n"})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct{ tool, arguments string }{
		{"check", `{"problem": "../x.yaml"}`}, {"check", `{"problem": "` + outside + `/bar.yaml"}`}, {"check", `{"problem": "link.yaml"}`}, {"check", `{"problem": "linked/bar.yaml"}`},
		{"check", using("../secret.csv")}, {"check", using(secret)}, {"check", using("link.csv")}, {"check", using("linked/secret.csv")}, {"check", using("/etc/passwd")},
		{"check", `{"problem_text": "recipes: ` + secret + `\ntotal: 20\n"}`},
		{"check", `{"problem_text": "ingredients: bar.csv\ntotal: 20\nsparsity: {uniform: [1, 2]}\nproperties: {a: {model: {file: ` + secret + `}}}\n"}`},
		{"check", `{"problem_text": "ingredients: bar.csv\ntotal: 20\nsparsity: {uniform: [1, 2]}\nproperties: {a: {markowitz: {returns: ` + secret + `, minimize: volatility}}}\n"}`},
		{"score", `{"problem": "bar.yaml", "table": "link.csv"}`}, {"score", `{"problem": "bar.yaml", "table": "../secret.csv"}`},
		{"sample", `{"problem": "bar.yaml", "run": "../run"}`}, {"sample", `{"problem": "bar.yaml", "run": "linked/run"}`}, {"sample", `{"problem": "bar.yaml", "run": "` + outside + `/run"}`},
		{"sample", `{"problem": "linked/new.yaml", "problem_text": "total: 1"}`}, {"sample", `{"problem": "bar.yaml", "run": "s3://bucket/run"}`},
		{"sample", `{"problem": "deep/er/run", "effort": 0}`}, {"tradeoff", `{"problem": "deep/er/run", "between": ["fresh", "cheap"]}`}, {"shortlist", `{"run": "deep/er/run"}`}, {"sample", `{"resume": "deep/er/run"}`},
		{"shortlist", `{"run": "linked"}`}, {"next", `{"problem": "linked/tasting.yaml"}`}, {"record", `{"problem": "tasting.yaml", "table": "link.csv"}`}, {"campaign", `{"problem": "../tasting.yaml"}`},
		{"explain_conflict", using(secret)},
	} {
		text, _, isError := callTool(t, s, c.tool, json.RawMessage(c.arguments))
		if !isError || strings.Contains(text, "Hidden") || strings.Contains(text, "root:") {
			t.Errorf("%s %s answers\n%s", c.tool, c.arguments, text)
		}
		if !strings.Contains(text, "outside") && !strings.Contains(text, "buckets") {
			t.Errorf("%s %s fails by another reason:\n%s", c.tool, c.arguments, text)
		}
	}
	if after := files(t, outside); !slices.Equal(before, after) {
		t.Errorf("outside there are %q, and were %q", after, before)
	}
}

// TestMCPCancel: a cancelled call stops, what it stored can be resumed, and the client hears of the progress.
func TestMCPCancel(t *testing.T) {
	dir := writeBar(t)
	heard := make(chan *mcp.ProgressNotificationParams, 1000)
	s := serveAssistant(t, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
		heard <- request.Params
	}}, dir)
	ctx, cancel := context.WithCancel(t.Context())
	params := &mcp.CallToolParams{Name: "sample", Arguments: map[string]any{"problem": "bar.yaml", "run": "long", "draws": 2_000_000, "effort": 0}}
	params.SetProgressToken(7)
	returned := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, params)
		returned <- err
	}()
	last := 0.0
	for sampling := false; !sampling; {
		select {
		case n := <-heard:
			if n.Progress <= last {
				t.Errorf("the progress goes from %g to %g", last, n.Progress)
			}
			last, sampling = n.Progress, n.Total == 1 && strings.Contains(n.Message, "sampling")
		case err := <-returned:
			t.Fatalf("the call returned before its progress came: %v", err)
		}
	}
	cancel()
	if err := <-returned; err == nil {
		t.Fatal("a cancelled call returns")
	}
	status := func() (of runStatus) {
		var out bytes.Buffer
		if err := execute(patient(t.Context()), []string{"status", "--json", filepath.Join(dir, "long")}, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &of); err != nil {
			t.Fatal(err)
		}
		return of
	}
	is := status()
	for deadline := time.Now().Add(20 * time.Second); is.Running && time.Now().Before(deadline); is = status() {
		time.Sleep(50 * time.Millisecond)
	}
	if is.Running || is.Complete || is.ChainsGoing == 0 {
		t.Fatalf("the run is %+v", is)
	}
	if text, structured, isError := callTool(t, s, "sample", json.RawMessage(`{"resume": "long"}`)); isError || structured["run"] != "long" {
		t.Fatalf("it does not go on: %s", text)
	}
	if is := status(); !is.Complete || is.StoredDraws != 4_000_000 {
		t.Errorf("the run that went on is %+v", is)
	}
}

// TestMCPPrograms: a program of a problem runs only if the user allows it, by the client or by kir trust, and only as
// long as it stays as it is.
func TestMCPPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir := writeBar(t)
	ran := filepath.Join(dir, "ran")
	script := func(more string) {
		t.Helper()
		text := "touch " + ran + "\n" + more + `while read line; do
  echo "$line" | awk '{k = gsub(/\{/, "{"); s = "["; for (i = 1; i <= k; i++) s = s (i > 1 ? "," : "") "1"; print s "]"}'
done
`
		if err := os.WriteFile(filepath.Join(dir, "score.sh"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	script("")
	problem := "ingredients: bar.csv\ntotal: 20\nsparsity: {uniform: [1, 2]}\nproperties: {y: {program: {command: [sh, score.sh]}}}\n"
	if err := os.WriteFile(filepath.Join(dir, "program.yaml"), []byte(problem), 0o666); err != nil {
		t.Fatal(err)
	}
	has := func() bool {
		_, err := os.Stat(ran)
		_ = os.Remove(ran)
		return err == nil
	}
	score := json.RawMessage(`{"problem": "program.yaml", "table": "mine.csv"}`)
	s := serveAssistant(t, nil, dir)
	text, _, isError := callTool(t, s, "score", score)
	if !isError || has() || !strings.Contains(text, "kir trust program.yaml") || !strings.Contains(text, `"sh" "score.sh"`) {
		t.Errorf("a client that cannot ask: %s", text)
	}
	for _, version := range []string{"", "2025-06-18"} {
		asked, action := 0, "decline"
		s := serveAssistantAt(t, version, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked++
			if m := request.Params.Message; !strings.Contains(m, "\"sh\"\n\"score.sh\"") || !strings.Contains(m, dir) {
				t.Errorf("the user is asked %q", m)
			}
			if action == "accept" {
				return &mcp.ElicitResult{Action: action, Content: map[string]any{"allow": true}}, nil
			}
			if action == "untick" {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": false}}, nil
			}
			return &mcp.ElicitResult{Action: action}, nil
		}}, dir)
		for _, c := range []struct {
			action string
			change bool
			asks   bool
			runs   bool
		}{
			{"decline", false, true, false}, {"cancel", false, true, false}, {"untick", false, true, false},
			{"accept", false, true, true}, {"decline", false, false, true},
			{"decline", true, true, false}, {"accept", false, true, true},
		} {
			if c.change {
				script("# " + version + " changed\n")
			}
			was := asked
			action = c.action
			text, _, isError := callTool(t, s, "score", score)
			if (asked > was) != c.asks || isError == c.runs || has() != c.runs {
				t.Errorf("version %q, %+v: asked %d times, %s", version, c, asked-was, text)
			}
		}
	}
	if err := execute(t.Context(), []string{"trust", filepath.Join(dir, "program.yaml")}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if text, _, isError := callTool(t, s, "score", score); isError || !has() {
		t.Errorf("a program that the user trusts: %s", text)
	}
}

// withToken is a transport that sends a token with each request.
type withToken string

// RoundTrip implements [http.RoundTripper].
func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCPByHTTP: a client that has the printed token uses kir by HTTP, and no other; messages are bounded.
func TestMCPByHTTP(t *testing.T) {
	dir := writeBar(t)
	reading, writing := io.Pipe()
	ctx, stop := context.WithCancel(patient(context.Background()))
	ended := make(chan error, 1)
	go func() {
		ended <- execute(ctx, []string{"mcp", dir, "--http"}, io.Discard, writing)
		_ = writing.Close()
	}()
	lines := bufio.NewScanner(reading)
	var words []string // the last word of each line
	for len(words) < 2 && lines.Scan() {
		words = append(words, lines.Text()[strings.LastIndex(lines.Text(), " ")+1:])
	}
	go func() { _, _ = io.Copy(io.Discard, reading) }()
	if len(words) != 2 || !strings.HasPrefix(words[0], "http://127.0.0.1:") || len(words[1]) < 26 {
		t.Fatalf("kir mcp prints %q", words)
	}
	for _, version := range []string{"", "2025-11-25"} {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: words[0], HTTPClient: &http.Client{Transport: withToken(words[1])},
		}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if text, _, isError := callTool(t, session, "score", json.RawMessage(`{"problem": "bar.yaml", "table": "mine.csv"}`)); isError {
			t.Error(text)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: words[0], HTTPClient: &http.Client{Transport: withToken("guess")},
	}, nil); err == nil {
		t.Error("a client with another token is served")
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, words[0], strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "`+strings.Repeat("a", 5<<20)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	response, err := (&http.Client{Transport: withToken(words[1])}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a message of 5 MB: %s, %v", response.Status, err)
	}
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("kir mcp ends with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("kir mcp does not end")
	}
}

// TestMCPUsage: kir mcp serves directories alone, and no other machine.
func TestMCPUsage(t *testing.T) {
	for _, args := range [][]string{{"mcp", "no/such/directory"}, {"mcp", "mcp_test.go"}, {"mcp", "--http=0.0.0.0:0"}, {"mcp", "--http=example.com:80"}, {"mcp", "--allow-programs"}} {
		if err := execute(t.Context(), args, io.Discard, io.Discard); err == nil || exitStatusOf(err) != 2 {
			t.Errorf("kir %q ends with %v", args, err)
		}
	}
}
