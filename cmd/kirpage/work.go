//go:build js

package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// home is the directory that the browser keeps.
const home = "/kir"

const (
	// mostFiles and mostBytes bound what is opened of a saved file.
	mostFiles = 10_000
	mostBytes = 256 << 20
)

// answerWorks answers with the problems that are kept, and which one is open.
func answerWorks(w http.ResponseWriter, works []string, current string) {
	w.Header().Set("Content-Type", "application/json")
	if works == nil {
		works = []string{}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"works": works, "current": current}) // the worker takes all
}

// chooseWork makes the problem that the body names the one that is opened next.
func chooseWork(w http.ResponseWriter, r *http.Request) {
	const longest = 1 << 10
	name, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longest))
	if err == nil {
		err = choose(string(name))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// saveWork answers with all files of the work, as a ZIP archive: unpacked it is a folder that
// the command line goes on with.
func saveWork(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	if err := pack(&b, os.DirFS(home)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="kir.zip"`)
	_, _ = w.Write(b.Bytes()) // the worker takes all
}

// keptRun is where the last run is, as an archive, until the page is closed.
const keptRun = "/tmp/run.zip"

// keepRun packs a run. The files of a browser are in memory, so it is the only one.
func keepRun(dir string) error {
	var b bytes.Buffer
	if err := pack(&b, os.DirFS(dir)); err != nil {
		return err
	}
	return os.WriteFile(keptRun, b.Bytes(), 0o600)
}

// saveRun answers with the run of the step that settled last: unpacked, kir show, kir report
// and kir draws read it.
func saveRun(w http.ResponseWriter, _ *http.Request) {
	data, err := os.ReadFile(keptRun)
	if err != nil {
		http.Error(w, "There is no run to save until the chains have settled.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="run.zip"`)
	_, _ = w.Write(data) // the worker takes all
}

// pack writes the files of a directory as an archive. Hidden ones, such as locks, are no part
// of the work.
func pack(w io.Writer, dir fs.FS) error {
	z := zip.NewWriter(w)
	err := fs.WalkDir(dir, ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != "." && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			return nil
		}
		data, err := fs.ReadFile(dir, path)
		if err != nil {
			return err
		}
		f, err := z.Create(path)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	return z.Close()
}

// openWork takes a saved file in place of the work that there is, which the page has asked
// about.
func openWork(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBytes))
	if err == nil {
		err = unpack(data, home)
	}
	if err != nil {
		http.Error(w, "The file is not opened, and nothing is changed: "+err.Error()+".", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// unpack writes the files of an archive into a directory, in place of what is there: into
// another one beside it first, so that an archive that is damaged, or too large, changes
// nothing.
func unpack(data []byte, dir string) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("it is no archive that kir saved: %w", err)
	}
	if len(z.File) > mostFiles {
		return fmt.Errorf("it has %d files, and %d are the most", len(z.File), mostFiles)
	}
	next, err := os.MkdirTemp("", "open")
	if err != nil {
		return err
	}
	defer os.RemoveAll(next) // of what is left where something failed
	left := int64(mostBytes)
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		name := filepath.FromSlash(f.Name)
		if !filepath.IsLocal(name) {
			return fmt.Errorf("it names a file outside of itself, %q", f.Name)
		}
		n, err := unpackFile(f, filepath.Join(next, name), left)
		if err != nil {
			return err
		}
		left -= n
	}
	old, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range old {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(next)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(next, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// unpackFile writes one file of an archive, of at most so many bytes.
func unpackFile(f *zip.File, path string, most int64) (written int64, err error) {
	in, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close() // read only
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s in it is damaged: %w", f.Name, err)
	case int64(len(data)) > most:
		return 0, fmt.Errorf("it has more than %d MiB", int64(mostBytes)>>20)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	return int64(len(data)), os.WriteFile(path, data, 0o600)
}
