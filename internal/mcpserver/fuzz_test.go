package mcpserver

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// temporaryNames matches the names of temporary files.
var temporaryNames = regexp.MustCompile(`\.kir-mcp-\d+\.`)

// FuzzArguments calls tools with any arguments. Whatever they are, the server answers; it runs only the commands of its
// tools, with flags before "--" and paths within the directory behind it; and it leaves no temporary file.
func FuzzArguments(f *testing.F) {
	for _, seed := range []struct{ name, arguments string }{
		{"check", `{"problem": "p.yaml"}`}, {"check", `{"problem_text": "total: 3"}`}, {"sample", `{"problem": "p.yaml", "run": "../x", "pin": ["--a"]}`},
		{"sample", `{"problem": "q.yaml", "problem_text": "x"}`}, {"shortlist", `{"run": "r/../../r"}`}, {"score", `{"problem": "p.yaml", "table": "/etc/passwd"}`},
		{"next", `{"problem": "p.yaml", "given": ["=", "\u0000"]}`}, {"record", `{"problem": "p.yaml", "recipe": "--", "results": {"": null, "a": {"b": 1e999}}}`},
		{"campaign", `{"problem": "s3://a/b"}`}, {"tradeoff", `{"problem": "p.yaml", "between": ["\n", "\"", ","], "points": 2}`}, {"explain_conflict", `{"problem_text": "[[[[[[[["}`},
		{"check", `{"problem": "` + strings.Repeat("a/", 3000) + `"}`}, {"check", `{"problem": "p.yaml", "problem": "../p.yaml"}`}, {"check", `[]`}, {"check", `null`}, {"nothing", `{}`},
		{"sample", `{"resume": "r", "best": 0.5}`}, {"sample", `{"problem": "p.yaml", "seed": 1e400}`},
	} {
		f.Add(seed.name, seed.arguments)
	}
	r := new(recorder)
	_, session, dir := newTestServer(f, r, false, nil)
	f.Fuzz(func(t *testing.T, name, arguments string) {
		if !json.Valid([]byte(arguments)) {
			t.Skip("no JSON: the transport refuses it")
		}
		r.mu.Lock()
		r.commands = nil
		r.mu.Unlock()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
		if err == nil && len(result.Content) == 0 {
			t.Error("an answer without content")
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, args := range r.commands {
			end := slices.Index(args, "--")
			if !slices.Contains([]string{"check", "sample", "resume", "show", "score", "next", "record", "campaign", "tradeoff"}, args[0]) || end < 0 || end == len(args)-1 {
				t.Fatalf("kir %q runs", args)
			}
			for _, flag := range args[1:end] {
				if !strings.HasPrefix(flag, "--") || strings.HasPrefix(flag, "--allow-programs") {
					t.Errorf("kir %q has the flag %q", args, flag)
				}
				if out, ok := strings.CutPrefix(flag, "--output="); ok && !isWithin(dir, out) {
					t.Errorf("kir %q writes %q", args, out)
				}
			}
			if !isWithin(dir, args[end+1]) || args[0] == "score" && !isWithin(dir, args[end+2]) {
				t.Errorf("kir %q leads out of the directory", args)
			}
		}
		if left, err := filepath.Glob(filepath.Join(dir, ".kir-mcp-*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %q, %v", left, err)
		}
	})
}

// isWithin reports whether a clean path is within a directory.
func isWithin(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel) && filepath.Clean(path) == path
}
