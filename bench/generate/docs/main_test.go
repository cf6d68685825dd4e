package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	leads = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	named = regexp.MustCompile(` id="([^"]+)"`)
)

// TestPages: all documents are pages, and each link in them leads to a file that is there,
// and to a heading of it. Nothing in them is kept off by their policy.
func TestPages(t *testing.T) {
	root, dir := filepath.Join("..", "..", ".."), t.TempDir()
	if err := write(root, dir); err != nil {
		t.Fatal(err)
	}
	// The root of a site is its own page, which these lead back to.
	pages := map[string]string{"index.html": ""}
	site := os.DirFS(dir)
	if err := fs.WalkDir(site, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".html" {
			return err
		}
		data, err := fs.ReadFile(site, name)
		pages[name] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(documents) < 20 {
		t.Fatal(documents, err)
	}
	for _, d := range documents {
		if name := "docs/" + strings.TrimSuffix(filepath.Base(d), ".md") + ".html"; pages[name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
	ids := make(map[string]bool)
	for name, text := range pages {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			ids[name+"#"+m[1]] = true
		}
		if strings.Contains(text, " style=") || strings.Contains(text, "<script") || strings.Contains(text, "<!-- ") {
			t.Errorf("%s has a style or a script in it, or HTML of its document", name)
		}
	}
	links := 0
	for name, text := range pages {
		for _, m := range leads.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], ":") {
				continue // there may be no network
			}
			links++
			to, heading, _ := strings.Cut(m[1], "#")
			at := path.Join(path.Dir(name), to)
			if to == "" {
				at = name
			} else if strings.HasSuffix(to, "/") {
				at = path.Join(at, "index.html")
			}
			if _, err := fs.Stat(site, at); err != nil && pages[at] == "" && at != "index.html" {
				t.Errorf("%s leads to %s: %v", name, m[1], err)
			}
			if heading != "" && !ids[at+"#"+heading] {
				t.Errorf("%s leads to %s, which has no such heading", name, m[1])
			}
		}
	}
	if links < 300 {
		t.Errorf("%d links are found", links)
	}
}
