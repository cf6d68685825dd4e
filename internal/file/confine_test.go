package file_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/file"
)

// newTree makes a directory "in" with files and links, beside a file "secret", and returns the directory above.
func newTree(t *testing.T) (above string) {
	t.Helper()
	above, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(above, "in")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(in, "deep"), 0o777),
		os.WriteFile(filepath.Join(above, "secret"), []byte("secret"), 0o600),
		os.WriteFile(filepath.Join(in, "deep", "open"), []byte("open"), 0o600),
		os.Symlink("deep/open", filepath.Join(in, "inside")),
		os.Symlink(filepath.Join(in, "deep", "open"), filepath.Join(in, "absolute")),
		os.Symlink("../secret", filepath.Join(in, "escape")),
		os.Symlink(above, filepath.Join(in, "up")),
		os.Symlink("../nothing", filepath.Join(in, "dangling")),
		os.Symlink("in", filepath.Join(above, "door")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return above
}

// TestConfinement: no path leads out of the directories, neither by its text nor by a link, and links within them are
// followed.
func TestConfinement(t *testing.T) {
	above := newTree(t)
	in := filepath.Join(above, "in")
	for _, dir := range []string{in, filepath.Join(above, "door")} {
		c, err := file.NewConfinement(dir)
		if err != nil {
			t.Fatal(err)
		}
		ctx := file.Confine(context.Background(), c)
		for path, want := range map[string]string{
			"deep/open": "", "./deep/../deep/open": "", "inside": "", "absolute": "", in + "/deep/open": "", dir + "/inside": "",
			"../secret": "outside", "deep/../../secret": "outside", above + "/secret": "outside", "/etc/passwd": "outside", "/no/such/file": "outside",
			"escape": "outside", "up/secret": "outside", "up": "outside", "up/in/deep/open": "", "../in/deep/open": "",
			"dangling": "missing", "nothing": "missing", "deep/open/x": "missing",
			"": "directory", ".": "directory", "deep\x00/open": "missing",
		} {
			name := path
			if !filepath.IsAbs(path) {
				name = filepath.Join(dir, path) // as a problem file's reader does
			}
			got := ""
			f, err := file.Open(ctx, name)
			switch {
			case errors.Is(err, file.ErrOutside):
				got = "outside"
			case err != nil && strings.Contains(err.Error(), "this is a directory"):
				got = "directory"
			case err != nil:
				got = "missing"
			case path == "dangling" || path == "nothing":
				t.Errorf("Open(%q) opens something", path)
			default:
				text, err := io.ReadAll(f)
				if err != nil || string(text) != "open" {
					t.Errorf("%s: %q is read, %v", path, text, err)
				}
				f.Close()
			}
			if path == "../in/deep/open" && dir != in {
				want = "" // both names of the directory count
			}
			if got != want {
				t.Errorf("Open(%q) in %s is %q (%v), not %q", path, dir, got, err, want)
			}
			real, err := c.Resolve(path)
			if got := errors.Is(err, file.ErrOutside); got != (want == "outside") || err == nil && want != "directory" && real != filepath.Join(in, "deep", "open") {
				t.Errorf("Resolve(%q) in %s is %q, %v", path, dir, real, err)
			}
			if made, err := c.ResolveNew(filepath.Join(path, "new", "run")); err == nil && !strings.HasPrefix(made, in+string(filepath.Separator)) {
				t.Errorf("ResolveNew(%q) in %s is %q", path, dir, made)
			}
		}
		for _, path := range []string{"up/new", "../new", "dangling", "dangling/new", above + "/x", "up/a/b"} {
			if made, err := c.ResolveNew(path); !errors.Is(err, file.ErrOutside) && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("ResolveNew(%q) is %q, %v", path, made, err)
			}
		}
		if made, err := c.ResolveNew("runs/a"); err != nil || made != filepath.Join(in, "runs", "a") {
			t.Errorf("a new run is %q, %v", made, err)
		}
	}
	c, err := file.NewConfinement(in)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := file.Open(file.Unconfined(file.Confine(context.Background(), c)), filepath.Join(above, "secret")); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	for _, dir := range []string{filepath.Join(above, "nothing"), filepath.Join(above, "secret")} {
		if _, err := file.NewConfinement(dir); err == nil {
			t.Errorf("%s is a directory", dir)
		}
	}
}

// TestSeveralDirectories: a relative path means the first directory that has it.
func TestSeveralDirectories(t *testing.T) {
	a, b := newTree(t), newTree(t)
	if err := os.WriteFile(filepath.Join(b, "in", "only"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := file.NewConfinement(filepath.Join(a, "in"), filepath.Join(b, "in"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"inside": filepath.Join(a, "in/deep/open"), "only": filepath.Join(b, "in/only")} {
		if got, err := c.Resolve(path); err != nil || got != want {
			t.Errorf("%s is %q, %v", path, got, err)
		}
	}
	if _, err := c.Resolve("no"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
