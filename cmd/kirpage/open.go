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

// programVersion returns the version of kir that is stored with runs and batches made on the page. It is the
// version that the command line program of the same build stores.
func programVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if v, ok := strings.CutPrefix(info.Main.Version, "v"); ok {
			return v
		}
	}
	return "devel"
}

// currentFileName is the name of the file in homeDirectory that stores which problem was open last.
const currentFileName = ".current"

// newSiteHandler returns the handler of the whole site. It serves two things: the page of the problem that was
// open last (without one, the page on which the user makes a problem from a table), and requests that only the
// static site has, such as saving all files.
func newSiteHandler(ctx context.Context) (http.Handler, error) {
	_, current := listProblems()
	page, err := newPageHandler(ctx, current)
	if err != nil && current != "" {
		// What cannot be opened is still there to be saved as a file.
		_ = setCurrentProblem("") // where the storage is full, this tab has it all the same, and a warning
		page, err = newPageHandler(ctx, "")
	}
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", page)
	mux.HandleFunc("GET /site/works", sendProblemList)
	mux.HandleFunc("POST /site/current", handleSetCurrent)
	mux.HandleFunc("GET /site/kir.zip", sendArchive)
	mux.HandleFunc("GET /site/run.zip", sendRunArchive)
	mux.HandleFunc("POST /site/open", replaceWork)
	return mux, nil
}

// newPageHandler returns the handler of the page of the problem with the given name. If the name is empty, it
// returns the handler of the page on which the user makes a problem from a table.
func newPageHandler(ctx context.Context, name string) (http.Handler, error) {
	o := serve.Options{TryKernels: true, Run: runStep, Version: programVersion()}
	if name != "" {
		o.File = filepath.Join(homeDirectory, filepath.FromSlash(name))
	}
	return serve.Handler(ctx, o, serve.SetupOptions{Dir: homeDirectory, HidePaths: true, OnWritten: func(file string) {
		_ = setCurrentProblem(strings.TrimPrefix(file, homeDirectory+"/")) // where the storage is full, this tab has it all the same, and a warning
	}})
}

// runStep runs one version of the problem on the page, as kir sample does. It then stores the run so that the
// user can save it.
func runStep(ctx context.Context, p *compile.Problem, dir string, progress func(run.Progress)) (*report.Model, error) {
	spec, err := assemble.Spec(p, programVersion())
	if err != nil {
		return nil, err
	}
	store := run.NewDirectoryStore(dir)
	result, err := run.Start(ctx, spec, store, run.Options{Progress: progress})
	if err != nil {
		return nil, p.Explain(err)
	}
	trade, err := p.SearchOwnTradeOff(ctx, nil)
	if err != nil {
		return nil, err
	}
	m, err := assemble.Model(ctx, p, store, result, trade, programVersion())
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
	return m, storeRunArchive(dir)
}

// listProblems returns the problems that the browser stores, as paths relative to homeDirectory. It also
// returns the problem to open, which is the problem that was open last, or the only problem. This result is
// empty if there is neither.
func listProblems() (works []string, current string) {
	found, err := filepath.Glob(filepath.Join(homeDirectory, "*", "problem.yaml"))
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, path := range found {
		works = append(works, strings.TrimPrefix(path, homeDirectory+"/"))
	}
	data, err := os.ReadFile(filepath.Join(homeDirectory, currentFileName))
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

// setCurrentProblem stores the name of the problem that the page opens next. With an empty name the page asks
// for a table.
func setCurrentProblem(name string) error {
	dir := &file.Dir{Path: homeDirectory, Mode: 0o600}
	return dir.Replace(currentFileName, []byte(name))
}
