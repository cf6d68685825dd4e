package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kir/internal/config/yaml"
	"kir/internal/file"
	"kir/internal/run/bucket"
)

// Resources of kir have these addresses. A path is relative to the first directory, or absolute.
const (
	docsURI     = "kir://docs/"
	problemsURI = "kir://problems/"
	runsURI     = "kir://runs/"

	reportPage  = "/report.html"  // follows the path of a run: the report as a page
	reportText  = "/report.txt"   // the report as text
	summaryFile = "/summary.json" // all figures of the report
)

const (
	maxListed      = 200     // greatest number of problems and runs that are listed
	maxVisited     = 5000    // greatest number of files and directories that are looked at for a list
	maxListedDepth = 4       // greatest depth of directories that are looked at
	maxStartBytes  = 1 << 16 // of a file, whose beginning tells whether it is a problem
	maxPageBytes   = 8 << 20 // greatest size of a report that is a resource
)

// addResources adds the documents, and templates for problem files and runs.
func (s *Server) addResources() {
	for _, topic := range s.topics() {
		name := topic + ".md"
		s.mcp.AddResource(&mcp.Resource{URI: docsURI + topic, Name: topic, Title: "kir: " + topic, MIMEType: "text/markdown", Description: documentTitle(s.options.Docs, name)}, func(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			text, err := fs.ReadFile(s.options.Docs, name)
			return textResource(request, string(text)), err
		})
	}
	for _, t := range []struct {
		uri, name, description, kind string
		read                         func(ctx context.Context, path string) (string, error)
	}{
		{problemsURI + "{+path}", "problem", "A problem file", "application/yaml", s.readProblem},
		{runsURI + "{+path}" + reportText, "report", "The report of a run as text", "text/plain", s.readReport},
		{runsURI + "{+path}" + reportPage, "report page", "The report of a run as an HTML page with figures", "text/html", s.readPage},
		{runsURI + "{+path}" + summaryFile, "summary", "All figures of the report of a run", "application/json", s.readSummary},
	} {
		prefix, suffix, _ := strings.Cut(t.uri, "{+path}")
		s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: t.uri, Name: t.name, Description: t.description, MIMEType: t.kind}, func(ctx context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			uri := request.Params.URI
			name, err := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(uri, prefix), suffix))
			if err != nil || strings.ContainsRune(name, 0) {
				return nil, mcp.ResourceNotFoundError(uri)
			}
			s.calls.Add(1)
			defer s.calls.Done()
			ctx, cancel := context.WithCancel(file.Confine(ctx, s.options.Directories))
			defer cancel()
			defer context.AfterFunc(s.ctx, cancel)()
			text, err := t.read(ctx, name)
			if err != nil {
				return nil, mcp.ResourceNotFoundError(uri)
			}
			return textResource(request, text), nil
		})
	}
	s.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, request)
			if list, ok := result.(*mcp.ListResourcesResult); ok && err == nil && list.NextCursor == "" {
				list.Resources = append(list.Resources, s.findResources()...)
			}
			return result, err
		}
	})
}

// topics returns the topics of the documents.
func (s *Server) topics() (topics []string) {
	names, err := fs.Glob(s.options.Docs, "*.md")
	if err != nil {
		panic(err) // the pattern is right
	}
	for _, name := range names {
		topics = append(topics, strings.TrimSuffix(name, ".md"))
	}
	return topics
}

// documentTitle returns the heading of a document.
func documentTitle(docs fs.FS, name string) string {
	text, err := fs.ReadFile(docs, name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(line, "# ")
}

// textResource returns the contents of a resource.
func textResource(request *mcp.ReadResourceRequest, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: request.Params.URI, Text: text}}}
}

// readProblem returns the text of a problem file.
func (s *Server) readProblem(ctx context.Context, name string) (string, error) {
	at, err := s.options.Directories.Resolve(name)
	if err != nil {
		return "", err
	}
	text, err := readStart(ctx, at, yaml.MaxBytes)
	if err == nil && !isProblem(at, text) {
		err = fs.ErrNotExist
	}
	return string(text), err
}

// readReport returns the report of a run as text.
func (s *Server) readReport(ctx context.Context, name string) (string, error) {
	return s.showRun(ctx, name, "show", "--details")
}

// readSummary returns the summary of a run.
func (s *Server) readSummary(ctx context.Context, name string) (string, error) {
	return s.showRun(ctx, name, "show", "--json")
}

// showRun returns what a command prints about a run.
func (s *Server) showRun(ctx context.Context, name string, command ...string) (string, error) {
	c := &call{server: s}
	run, err := c.resolve(name)
	if err != nil {
		return "", err
	}
	release, err := s.acquireSlot(ctx, func() {})
	if err != nil {
		return "", err
	}
	defer release()
	var out bytes.Buffer
	err = s.options.Run(ctx, Command{Args: commandLine(command).withArguments(run), Stdout: &out, Stderr: io.Discard, Observe: func(string, float64) {}})
	return c.renamer().Replace(out.String()), err
}

// readPage returns the report of a run as a page.
func (s *Server) readPage(ctx context.Context, name string) (string, error) {
	run, err := s.options.Directories.Resolve(name)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(run, runManifest)); err != nil {
		return "", err
	}
	page, err := file.Read(filepath.Join(run, path.Base(reportPage)), maxPageBytes)
	return string(page), err
}

// readStart returns the beginning of a file, of at most maxBytes bytes.
func readStart(ctx context.Context, at string, maxBytes int64) (text []byte, err error) {
	f, err := file.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	return io.ReadAll(io.LimitReader(f, maxBytes))
}

// runManifest is the file that makes a directory a run.
const runManifest = "run.json"

// ingredientsKey and objectivesKey match keys that a problem file has.
var (
	ingredientsKey = regexp.MustCompile(`(?m)^(ingredients|recipes):`)
	objectivesKey  = regexp.MustCompile(`(?m)^(total|sparsity|properties|constraints):`)
)

// isProblem reports whether a file with this beginning is a problem file. Files of others are no resources.
func isProblem(at string, text []byte) bool {
	return isYAML(at) && ingredientsKey.Match(text) && objectivesKey.Match(text)
}

// isYAML reports whether a file has the extension of YAML.
func isYAML(at string) bool {
	ext := strings.ToLower(filepath.Ext(at))
	return ext == ".yaml" || ext == ".yml"
}

// errEnough ends a search for resources.
var errEnough = errors.New("enough")

// findResources returns the problem files and runs in the directories. Hidden directories are left out.
func (s *Server) findResources() (all []*mcp.Resource) {
	ctx := file.Confine(s.ctx, s.options.Directories)
	visited := 0
	for _, dir := range s.options.Directories.Directories() {
		_ = filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error { // what cannot be read is not listed
			if visited++; visited > maxVisited || len(all) >= maxListed {
				return errEnough
			}
			if err != nil {
				return fs.SkipDir
			}
			if !e.IsDir() {
				if e.Type().IsRegular() && isYAML(at) && !strings.HasPrefix(e.Name(), ".") {
					if text, err := readStart(ctx, at, maxStartBytes); err == nil && isProblem(at, text) {
						all = append(all, &mcp.Resource{URI: problemsURI + s.uriPath(at), Name: s.clientPath(at), Description: "A problem file", MIMEType: "application/yaml"})
					}
				}
				return nil
			}
			if strings.HasPrefix(e.Name(), ".") && at != dir {
				return fs.SkipDir
			}
			if _, err := os.Lstat(filepath.Join(at, runManifest)); err == nil {
				uri, _ := s.runURI(at)
				all = append(all, &mcp.Resource{URI: uri + reportText, Name: s.clientPath(at), Description: "The report of a run", MIMEType: "text/plain"})
				return fs.SkipDir
			}
			if rel, err := filepath.Rel(dir, at); err != nil || strings.Count(rel, string(filepath.Separator)) >= maxListedDepth {
				return fs.SkipDir
			}
			return nil
		})
	}
	return all
}

// clientPath returns a path as clients know it: relative to the first directory, if it is there.
func (s *Server) clientPath(at string) string {
	if rel, err := filepath.Rel(s.options.Directories.Directories()[0], at); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return at
}

// uriPath returns a path as a part of the address of a resource.
func (s *Server) uriPath(at string) string {
	parts := strings.Split(filepath.ToSlash(s.clientPath(at)), "/")
	for k := range parts {
		parts[k] = url.PathEscape(parts[k])
	}
	return strings.Join(parts, "/")
}

// runURI returns the address of the resources of a run, without their names. A run in a bucket has none.
func (s *Server) runURI(run string) (uri string, ok bool) {
	if bucket.IsBucket(run) {
		return "", false
	}
	return runsURI + s.uriPath(run), true
}
