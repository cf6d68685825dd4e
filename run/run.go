package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// defaultCheckpoint is the least time from one checkpoint of a chain to
	// the next,
	defaultCheckpoint = 5 * time.Second
	// and checkpointCost the least multiple of the time that one takes.
	checkpointCost = 50
)

// Options say how to go about a run. They change nothing in its results.
type Options struct {
	// Workers is how many chains run at once. 0: as many as there are cores.
	Workers int
	// Checkpoint is the time from one checkpoint of a chain to the next. 0: 5
	// seconds, or more where writing them would take more than a fiftieth of
	// the time.
	Checkpoint time.Duration
	// Progress is told a few times a second how far the run is, and once at
	// its end, from one goroutine at a time. It may be nil.
	Progress func(Progress)

	open func(path string, flag int) (file, error) // for tests
}

// directory returns the directory of a run.
func (o *Options) directory(path string) *directory {
	d := &directory{path: path, open: openFile}
	if o.open != nil {
		d.open = o.open
	}
	return d
}

// Start makes a run in a directory that it creates. If the spec cannot be run,
// the directory or its name are left as they were; a name that exists is an
// [ExistsError].
//
// A run that ends early leaves all that [Resume] needs: an [InterruptedError]
// when ctx ended, a [StorageError] when a file could not be written. When ctx
// ends, chains go on to the end of their segment to write a checkpoint, for two
// seconds at most.
func Start(ctx context.Context, spec *Spec, dir string, o Options) (*Result, error) {
	s, err := newSession(spec, o.directory(dir), o)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(dir); err == nil {
		return nil, &ExistsError{Dir: dir}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if s.manifest, err = newManifest(spec); err != nil {
		return nil, err
	}
	if err := s.eachChain(func(c *chain) error { return cmp.Or(ctx.Err(), c.start()) }); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o777); errors.Is(err, fs.ErrExist) {
		return nil, &ExistsError{Dir: dir}
	} else if err != nil {
		return nil, err
	}
	lock, err := s.lock()
	if err == nil {
		defer lock.Close()
		err = s.begin()
	}
	if err != nil {
		// Nobody else has had the time to put anything there.
		return nil, cmp.Or(err, os.RemoveAll(dir))
	}
	defer s.close()
	return s.run(ctx)
}

// begin makes the new directory that of a run.
func (s *session) begin() error {
	if err := s.dir.replace(problemName, s.spec.Resolved, false); err != nil {
		return err
	}
	if err := s.manifest.write(s.dir); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(s.dir.path))
}

// Resume goes on with a run from where it was interrupted, in whatever way, or
// extends a complete run: spec.Settings.Draws may be more than the run was
// started with. The result is that of an uninterrupted run of as many draws, and
// so are the files of draws, byte for byte.
//
// Everything else in the spec must be what it was; if it is not, Resume fails
// with a [ChangedError]. It fails with [ErrComplete] if nothing is left to do,
// and with a [BusyError] if another process is working on the run.
func Resume(ctx context.Context, spec *Spec, dir string, o Options) (*Result, error) {
	s, err := newSession(spec, o.directory(dir), o)
	if err != nil {
		return nil, err
	}
	// Locking would make a file in a directory that may be of anything.
	if _, err := readManifest(s.dir); err != nil {
		return nil, err
	}
	lock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	old, err := readManifest(s.dir)
	if err != nil {
		return nil, err
	}
	if s.manifest, err = newManifest(spec); err != nil {
		return nil, err
	}
	if err := old.compare(dir, s.manifest); err != nil {
		return nil, err
	}
	switch was, now := old.Settings.Draws, spec.Settings.Draws; {
	case now < was:
		return nil, &ChangedError{
			Dir:       dir,
			What:      "the number of draws",
			Was:       fmt.Sprint(was),
			Now:       fmt.Sprint(now),
			WayToward: "draws can be added but not taken away",
		}
	case now == was && old.Status == Complete:
		return nil, ErrComplete
	case now > was:
		if err := s.extend(); err != nil {
			return nil, err
		}
	}
	defer s.close()
	if err := s.eachChain(func(c *chain) error {
		seconds, err := c.resume()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.before = max(s.before, seconds)
		return cmp.Or(ctx.Err(), err)
	}); err != nil {
		return nil, err
	}
	return s.run(ctx)
}

// extend makes the run an unfinished one of more draws. What it amounts to is
// not known until that is done.
func (s *session) extend() error {
	if err := s.manifest.write(s.dir); err != nil {
		return err
	}
	if err := s.dir.replace(problemName, s.spec.Resolved, false); err != nil {
		return err
	}
	if err := os.Remove(s.dir.join(resultName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
