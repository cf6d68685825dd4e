//go:build js

package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"kir/internal/compile"
	"kir/internal/file"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
	"kir/internal/run"
	"kir/internal/serve"
)

// version is what runs and batches that are made here say of the program: what the command
// line of the same build says, so that they are the same.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if v, ok := strings.CutPrefix(info.Main.Version, "v"); ok {
			return v
		}
	}
	return "devel"
}

// currentFile holds the path of the problem that was open last, within home.
const currentFile = ".current"

// open returns what answers the page: of the problem that was open last, else the one that
// begins with a table; and what a site has beside it.
func open(ctx context.Context) (http.Handler, error) {
	works, current := listWorks()
	page, err := openPage(ctx, current)
	if err != nil && current != "" {
		// What cannot be opened is still there to be saved as a file.
		if page, err = openPage(ctx, ""); err != nil {
			return nil, err
		}
		current = ""
	}
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", page)
	mux.HandleFunc("GET /site/works", func(w http.ResponseWriter, _ *http.Request) { answerWorks(w, works, current) })
	mux.HandleFunc("POST /site/current", chooseWork)
	mux.HandleFunc("GET /site/kir.zip", saveWork)
	mux.HandleFunc("GET /site/run.zip", saveRun)
	mux.HandleFunc("POST /site/open", openWork)
	return mux, nil
}

// openPage opens the page of a problem, or of none.
func openPage(ctx context.Context, name string) (http.Handler, error) {
	o := serve.Options{TryKernels: true, Run: steered, Version: version()}
	if name != "" {
		o.File = filepath.Join(home, filepath.FromSlash(name))
	}
	return serve.Handler(ctx, o, serve.SetupOptions{Dir: home})
}

// steered makes the run of a step as kir sample does, and keeps it to be saved.
func steered(ctx context.Context, p *compile.Problem, dir string, progress func(run.Progress)) (*report.Model, error) {
	spec, err := assemble.Spec(p, version())
	if err != nil {
		return nil, err
	}
	store := run.Directory(dir)
	result, err := run.Start(ctx, spec, store, run.Options{Progress: progress})
	if err != nil {
		return nil, p.Explain(err)
	}
	trade, err := p.SearchOwnTradeOff(ctx)
	if err != nil {
		return nil, err
	}
	m, err := assemble.Model(ctx, p, store, result, trade, version())
	if err != nil {
		return nil, err
	}
	m.Files = append([]string{view.PageName}, m.Files...)
	if err := m.Save(ctx, store); err != nil {
		return nil, err
	}
	if err := view.SavePage(ctx, store, m); err != nil {
		return nil, err
	}
	return m, keepRun(dir)
}

// listWorks returns the problems that the browser keeps, as paths within home, and the one
// that was open last, or the only one; empty if it is to begin with a table.
func listWorks() (works []string, current string) {
	found, err := filepath.Glob(filepath.Join(home, "*", "problem.yaml"))
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, path := range found {
		works = append(works, strings.TrimPrefix(path, home+"/"))
	}
	data, err := os.ReadFile(filepath.Join(home, currentFile))
	if err != nil {
		if len(works) == 1 {
			current = works[0]
		}
		return works, current
	}
	for _, name := range works {
		if name == string(data) {
			current = name
		}
	}
	return works, current
}

// choose makes a problem the one that is opened next; an empty name begins with a table.
func choose(name string) error {
	dir := &file.Dir{Path: home, Mode: 0o600}
	return dir.Replace(currentFile, []byte(name))
}
