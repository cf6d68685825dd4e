package paper

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"kir/internal/file"
	"kir/internal/report/figure"
)

// Save writes paper.html, paper.json and each figure as SVG and PNG into a new directory. Save writes to a
// temporary directory first, so that dir is complete or absent. If dir exists, Save returns an error that wraps
// [fs.ErrExist].
func (r *Report) Save(dir string) error {
	if err := CheckNewDir(dir); err != nil {
		return err
	}
	pictures, err := r.Pictures()
	if err != nil {
		return err
	}
	return r.save(dir, pictures)
}

func (r *Report) save(dir string, pictures []*figure.Figure) (err error) {
	var data, page bytes.Buffer
	if err := errors.Join(r.WriteJSON(&data), r.WriteHTML(&page, pictures)); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	part, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(part))
		}
	}()
	for _, f := range pictures {
		if _, err := figure.Save(f, part, file.Create); err != nil {
			return err
		}
	}
	err = errors.Join(
		file.Create(filepath.Join(part, "paper.json"), data.Bytes()),
		file.Create(filepath.Join(part, "paper.html"), page.Bytes()),
		os.Chmod(part, 0o755))
	if err != nil {
		return err
	}
	return os.Rename(part, dir)
}

// CheckNewDir returns an error if Save could not create dir, because dir exists or the parent of dir does not
// exist. Callers should call CheckNewDir before a long run.
func CheckNewDir(dir string) error {
	switch _, err := os.Lstat(dir); {
	case err == nil:
		return &fs.PathError{Op: "write to", Path: dir, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent, err := os.Stat(filepath.Dir(filepath.Clean(dir)))
	if err != nil {
		return err
	}
	if !parent.IsDir() {
		return &fs.PathError{Op: "write to", Path: filepath.Dir(dir), Err: errors.New("it is not a directory")}
	}
	return nil
}
