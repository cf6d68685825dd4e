package mcpserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/run/bucket"
)

// createTemporary creates a file with a text in a directory. The star in the pattern becomes a random number.
func createTemporary(dir, pattern, text string) (path string, err error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// removeFile removes a file, if it is there.
func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checkBucket reports whether a location is a bucket. The error says that buckets are not allowed.
func (s *Server) checkBucket(location string) (isBucket bool, err error) {
	if !bucket.IsBucket(location) {
		return false, nil
	}
	if !s.options.AllowBuckets {
		return true, &inputerr.Error{File: location, Message: "buckets are not allowed", Hint: "start kir mcp with --allow-buckets"}
	}
	return true, nil
}

// resolve returns the path of an existing file or directory that a client named, or the location of a bucket.
func (c *call) resolve(path string) (string, error) {
	if path == "" {
		return "", &inputerr.Error{Message: "a path is empty", Hint: "name a file"}
	}
	if is, err := c.server.checkBucket(path); is || err != nil {
		return path, err
	}
	return c.server.options.Directories.Resolve(path)
}

// numberOfRun matches the number at the end of the name of a run.
var numberOfRun = regexp.MustCompile(`-\d+$`)

// newRun returns the location of a new run: the one that the client named, or else the first of
// runs/NAME-1, runs/NAME-2, … that does not exist, beside the problem file, which gives the name. For a run
// in place of a problem file, it is the next one beside the run.
func (c *call) newRun(named, problem string) (string, error) {
	s := c.server
	if is, err := s.checkBucket(named); is || err != nil {
		return named, err
	}
	if named != "" {
		return s.options.Directories.ResolveNew(named)
	}
	base := filepath.Join(filepath.Dir(problem), "runs", strings.TrimSuffix(filepath.Base(problem), filepath.Ext(problem)))
	if info, err := os.Stat(problem); err == nil && info.IsDir() {
		base = numberOfRun.ReplaceAllString(problem, "")
	} else if bucket.IsBucket(problem) {
		base = "runs/bucket"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := 1; ; k++ {
		dir, err := s.options.Directories.ResolveNew(fmt.Sprintf("%s-%d", base, k))
		if err != nil {
			return "", err
		}
		if _, err := os.Lstat(dir); err == nil || s.reservedRuns[dir] {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		s.reservedRuns[dir] = true
		c.cleanups = append(c.cleanups, func() error {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.reservedRuns, dir)
			return nil
		})
		return dir, nil
	}
}
