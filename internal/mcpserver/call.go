package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kir/internal/compile"
	"kir/internal/file"
	"kir/internal/inputerr"
)

// maxTextBytes is the greatest length of the text of an answer, which a language model has to read.
const maxTextBytes = 16_000

// An answer is the result of a tool.
type answer struct {
	structured json.RawMessage // JSON object; nil if the text is all
	text       string
	isWhole    bool // whether the text stays whole, however long it is
}

// A call is one call of a tool.
type call struct {
	server   *Server
	request  *mcp.CallToolRequest
	progress *progress
	names    []string // pairs for a [strings.Replacer]: a path, and how the client knows it
	cleanups []func() error
}

// toolHandler returns the handler of a tool that does its work by the function do.
func toolHandler[In any](s *Server, do func(ctx context.Context, c *call, in In) (*answer, error)) mcp.ToolHandlerFor[In, any] {
	return func(ctx context.Context, request *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		s.calls.Add(1)
		defer s.calls.Done()
		ctx, cancel := context.WithCancel(file.Confine(ctx, s.options.Directories))
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		c := &call{server: s, request: request, progress: newProgress(ctx, request)}
		defer c.progress.end()
		a, err := c.do(ctx, func(ctx context.Context) (*answer, error) { return do(ctx, c, in) })
		if err != nil {
			return c.failure(err), nil, nil
		}
		result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.text}}}
		if a.structured != nil {
			result.StructuredContent = a.structured
		}
		return result, nil, nil
	}
}

// do waits until the call may work, and does its work.
func (c *call) do(ctx context.Context, work func(context.Context) (*answer, error)) (a *answer, err error) {
	var arguments any
	if err := json.Unmarshal(c.request.Params.Arguments, &arguments); err == nil && hasZeroByte(arguments) {
		return nil, &inputerr.Error{Message: "an argument has a zero byte in it", Hint: "leave it out"}
	}
	release, err := c.server.acquireSlot(ctx, func() { c.progress.observe("waiting for other calls to end", 0) })
	if err != nil {
		return nil, err
	}
	defer release()
	defer func() {
		for _, clean := range c.cleanups {
			err = errors.Join(err, clean())
		}
	}()
	ctx = c.withConsent(ctx)
	a, err = work(ctx)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if a.isWhole {
		return a, nil
	}
	names := c.renamer()
	a.text = shorten(names.Replace(a.text), maxTextBytes)
	a.structured = json.RawMessage(names.Replace(string(a.structured)))
	return a, nil
}

// acquireSlot waits until a call may work. The function onWait is called if it has to wait.
func (s *Server) acquireSlot(ctx context.Context, onWait func()) (release func(), err error) {
	release = func() { <-s.slots }
	select {
	case s.slots <- struct{}{}:
		return release, nil
	default:
	}
	onWait()
	select {
	case s.slots <- struct{}{}:
		return release, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run runs a command of kir with the flag --json, and returns its result. Messages of the command follow
// the text.
func (c *call) run(ctx context.Context, args ...string) (*answer, error) {
	var stdout, text bytes.Buffer
	var stderr lockedBuffer
	if err := c.server.options.Run(ctx, Command{Args: args, Stdout: &stdout, Stderr: &stderr, Text: &text, Observe: c.progress.observe}); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, stdout.Bytes()); err != nil {
		return nil, fmt.Errorf("the result of kir %s: %w", args[0], err)
	}
	if messages := stderr.String(); messages != "" {
		text.WriteString("\n" + messages)
	}
	return &answer{structured: compact.Bytes(), text: text.String()}, nil
}

// A lockedBuffer is a buffer that several goroutines may write to.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write implements [io.Writer].
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

// String returns what was written.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// runText runs a command of kir and returns the text that it prints.
func (c *call) runText(ctx context.Context, args ...string) (string, error) {
	var stdout bytes.Buffer
	err := c.server.options.Run(ctx, Command{Args: args, Stdout: &stdout, Stderr: io.Discard, Observe: c.progress.observe})
	if err != nil {
		return "", err
	}
	return stdout.String(), nil
}

// renamer returns what replaces paths in an answer: those in the first directory become relative to it, and
// temporary files get the names of the arguments that they were made of.
func (c *call) renamer() *strings.Replacer {
	names := c.names
	if first := c.server.options.Directories.Directories()[0]; len(first) > 1 {
		names = append(names, first+string(filepath.Separator), "")
	}
	return strings.NewReplacer(names...)
}

// failure returns the result of a call that failed: each fault with its place and a fix, if one is known. If the
// user has to allow a program and the client can ask, the result is the question.
func (c *call) failure(err error) *mcp.CallToolResult {
	var consent *compile.ConsentError
	if errors.As(err, &consent) {
		if question := c.askConsent(consent); question != nil {
			return question
		}
		err = c.explainConsent(consent)
	}
	text := err.Error()
	if errors.As(err, new(*compile.ConflictError)) {
		text += "\nNext: explain_conflict lists the constraints and the fixes.\n"
	}
	r := &mcp.CallToolResult{IsError: true}
	names := c.renamer()
	if described, failed := json.Marshal(c.server.options.DescribeErrors(err)); failed == nil {
		r.StructuredContent = json.RawMessage(names.Replace(string(described)))
	}
	r.Content = []mcp.Content{&mcp.TextContent{Text: shorten(names.Replace(text), maxTextBytes)}}
	return r
}

// hasZeroByte reports whether a text in a decoded JSON value has a zero byte. No file name may have one.
func hasZeroByte(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsRune(v, 0)
	case []any:
		return slices.ContainsFunc(v, hasZeroByte)
	case map[string]any:
		for name, of := range v {
			if hasZeroByte(name) || hasZeroByte(of) {
				return true
			}
		}
	}
	return false
}

// shorten leaves lines out of the middle of a text that has more than maxBytes bytes: it keeps the recipes at the
// beginning, and at the end how far to trust them.
func shorten(text string, maxBytes int) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= maxBytes {
		return text
	}
	endBytes := maxBytes / 4
	head, tail := text[:maxBytes-endBytes], text[len(text)-endBytes:]
	if cut := strings.LastIndexByte(head, '\n'); cut >= 0 {
		head = head[:cut+1]
	}
	if _, lines, ok := strings.Cut(tail, "\n"); ok {
		tail = lines
	}
	return strings.ToValidUTF8(head+"… left out …\n"+tail, "")
}

// temporary writes a text that a client gave into a file of the first directory, which is removed when the call
// ends. There, names in the text refer to the files of the directory. In answers the file has the name of the
// argument.
func (c *call) temporary(argument, pattern, text string) (string, error) {
	dir := c.server.options.Directories.Directories()[0]
	path, err := createTemporary(dir, pattern, text)
	if err != nil {
		return "", &inputerr.Error{Message: fmt.Sprintf("%s needs a temporary file: %v", argument, errors.Unwrap(err)), Hint: "name a file instead", Err: err}
	}
	c.names = append(c.names, path, argument)
	c.cleanups = append(c.cleanups, func() error { return removeFile(path) })
	return path, nil
}

// withText returns the path of a file that is given by its path or by its text.
func (c *call) withText(what, path, text, pattern string) (string, error) {
	switch {
	case path != "" && text != "":
		return "", &inputerr.Error{Message: fmt.Sprintf("there are %s and %s_text", what, what), Hint: "give one of them"}
	case text != "":
		return c.temporary(what+"_text", pattern, text)
	case path != "":
		return c.resolve(path)
	}
	return "", &inputerr.Error{Message: fmt.Sprintf("there is no %s", what), Hint: fmt.Sprintf("give %s, a path, or %s_text", what, what)}
}

// problemOf returns the path of a problem that is given by its path or by its text.
func (c *call) problemOf(path, text string) (string, error) {
	return c.withText("problem", path, text, ".kir-mcp-*.yaml")
}

// savedProblem returns the path of a problem file or a run. If there is a text, it becomes the problem file,
// which must be new or have this text.
func (c *call) savedProblem(path, text string) (string, error) {
	if text == "" {
		return c.resolve(path)
	}
	path, err := c.server.options.Directories.ResolveNew(path)
	if err != nil {
		return "", err
	}
	if !isYAML(path) {
		return "", &inputerr.Error{File: path, Message: "a problem is a YAML file", Hint: "name a file ending in .yaml"}
	}
	err = file.Create(path, []byte(text))
	if errors.Is(err, fs.ErrExist) {
		was, err := file.Read(path, maxRequestBytes)
		if err == nil && string(was) == text {
			return path, nil
		}
		return "", &inputerr.Error{File: path, Message: "the file exists and has another text", Hint: "leave problem_text out, or choose another name"}
	}
	return path, err
}
