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

// homeDirectory is the directory whose files the browser keeps when the page is closed.
const homeDirectory = "/kir"

const (
	// maxArchiveFiles is the greatest number of files in a ZIP archive that the page opens. maxArchiveBytes is
	// the greatest total size of these files.
	maxArchiveFiles = 10_000
	maxArchiveBytes = 256 << 20
)

// sendProblemList answers a request with the names of the stored problems and of the open problem.
func sendProblemList(w http.ResponseWriter, _ *http.Request) {
	works, current := listProblems()
	w.Header().Set("Content-Type", "application/json")
	if works == nil {
		works = []string{}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"works": works, "current": current}) // the worker takes all
}

// handleSetCurrent handles a request whose body is the name of the problem to open next.
func handleSetCurrent(w http.ResponseWriter, r *http.Request) {
	const longest = 1 << 10
	name, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longest))
	if err == nil {
		err = setCurrentProblem(string(name))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// sendArchive answers a request with a ZIP archive of all files in homeDirectory. With these files the user can
// continue on the command line.
func sendArchive(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	if err := packArchive(&b, os.DirFS(homeDirectory)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="kir.zip"`)
	_, _ = w.Write(b.Bytes()) // the worker takes all
}

// runArchivePath is the path of the file in which the last run is kept as a ZIP archive until the page is
// closed.
const runArchivePath = "/tmp/run.zip"

// storeRunArchive stores the run in a directory as a ZIP archive. The archive replaces the archive of the
// previous run, because files on the page take memory.
func storeRunArchive(dir string) error {
	var b bytes.Buffer
	if err := packArchive(&b, os.DirFS(dir)); err != nil {
		return err
	}
	return os.WriteFile(runArchivePath, b.Bytes(), 0o600)
}

// sendRunArchive answers a request with a ZIP archive of the last finished run. After
// unpacking the archive, the user can read the run with kir show, kir report and kir draws.
func sendRunArchive(w http.ResponseWriter, _ *http.Request) {
	data, err := os.ReadFile(runArchivePath)
	if err != nil {
		http.Error(w, "There is no run to save until the chains have settled.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="run.zip"`)
	_, _ = w.Write(data) // the worker takes all
}

// packArchive writes the files of a directory as a ZIP archive. Hidden files, such as locks, are left out.
func packArchive(w io.Writer, dir fs.FS) error {
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

// replaceWork handles a request whose body is a ZIP archive that the user has saved. It replaces all files in
// homeDirectory by the files in the archive. The page has asked the user for consent before.
func replaceWork(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxArchiveBytes))
	if err == nil {
		err = unpackArchive(data, homeDirectory)
	}
	if err != nil {
		http.Error(w, "The file is not opened, and nothing is changed: "+err.Error()+".", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// unpackArchive replaces all files in a directory by the files in a ZIP archive. It first unpacks the archive
// into a temporary directory. Hence an archive that is damaged or too large changes nothing.
func unpackArchive(data []byte, dir string) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("it is no archive that kir saved: %w", err)
	}
	if len(z.File) > maxArchiveFiles {
		return fmt.Errorf("it has %d files, and %d are the most", len(z.File), maxArchiveFiles)
	}
	next, err := os.MkdirTemp("", "open")
	if err != nil {
		return err
	}
	defer os.RemoveAll(next) // of what is left where something failed
	left := int64(maxArchiveBytes)
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

// unpackFile writes one file of a ZIP archive to path. It returns an error if the file has more than maxBytes
// bytes.
func unpackFile(f *zip.File, path string, maxBytes int64) (written int64, err error) {
	in, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close() // read only
	data, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s in it is damaged: %w", f.Name, err)
	case int64(len(data)) > maxBytes:
		return 0, fmt.Errorf("it has more than %d MiB", int64(maxArchiveBytes)>>20)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	return int64(len(data)), os.WriteFile(path, data, 0o600)
}
