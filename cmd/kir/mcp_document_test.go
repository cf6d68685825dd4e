package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kir/internal/testonly/golden"
)

// TestMCPDocument registers kir as docs/mcp.md says, as a process that speaks on standard input and output, and makes
// the calls of the document: it shows what they answer.
func TestMCPDocument(t *testing.T) {
	const path = "../../docs/mcp.md"
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var register struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	all, _ := blocks(string(document))
	shown := ""
	for _, b := range all {
		switch {
		case b.file != "":
			err = os.WriteFile(filepath.Join(dir, b.file), []byte(b.text), 0o666)
		case b.kind == "json":
			err = json.Unmarshal([]byte(b.text), &register)
		case b.kind == "text":
			shown = b.text
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	kir := register.Servers["kir"]
	if kir.Command != "kir" || len(kir.Args) != 2 || kir.Args[0] != "mcp" || shown == "" {
		t.Fatalf("the document registers %+v and shows %q", register, shown)
	}
	command := exec.Command(os.Args[0])
	command.Args, command.Stderr = []string{"kir", "mcp", dir}, os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var is strings.Builder
	for line := range strings.Lines(shown) {
		call, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> ")
		if !ok {
			continue
		}
		tool, arguments, _ := strings.Cut(call, " ")
		text, structured, isError := callTool(t, session, tool, json.RawMessage(arguments))
		if isError || structured == nil {
			t.Errorf("%s fails: %s", call, text)
		}
		fmt.Fprintf(&is, "> %s\n%s", call, trimLines(text))
	}
	if err := session.Close(); err != nil {
		t.Errorf("kir mcp ends with %v", err)
	}
	if golden.Updates() {
		if err := os.WriteFile(path, []byte(strings.Replace(string(document), shown, is.String(), 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if shown != is.String() {
		t.Errorf("%s shows\n%s\nand kir answers\n%s", path, shown, is.String())
	}
}
