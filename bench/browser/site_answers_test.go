package browser_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// sampled is how the problems of TestSiteAnswers are sampled: long enough for every part of
// a summary to have something to tell.
const sampled = "\nsampler: {kernel: %s, chains: 2, warmup: 100, draws: 200, seed: %d}\n"

// TestSiteAnswers samples problems in the browser and by the command line: draws are the same
// byte for byte, and so is summary.json but for the times.
func TestSiteAnswers(t *testing.T) {
	w, _, address := openSite(t)
	dir := t.TempDir()
	for k, name := range []string{"cocktails", "portfolio", "document"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("..", "..", "examples", name))); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(dir, name, "problem.yaml"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(f, sampled, []string{"balanced", "tempered"}[k%2], k+1); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "golden"), os.DirFS(filepath.Join("..", "..", "cmd", "kir", "testdata", "golden", "1"))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "golden", "run")); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	if err := z.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	w.goes(address)
	w.begins()
	w.posts("/site/open", packed.Bytes())

	for _, name := range []string{"golden", "cocktails", "portfolio", "document"} {
		w.posts("/site/current", []byte(name+"/problem.yaml"))
		w.goes(address)
		w.settled(1)
		got := readRun(t, w.archive("/site/run.zip"))
		run := filepath.Join(t.TempDir(), "run")
		kirDoes(t, "sample", filepath.Join(dir, name, "problem.yaml"), "-o", run, "--quiet")
		want := readRun(t, os.DirFS(run))
		if len(want.draws) < 2 || len(want.summary) < 20 {
			t.Fatalf("%s: the command line made %d files of draws and a summary of %d keys", name, len(want.draws), len(want.summary))
		}
		if a, b := slices.Sorted(maps.Keys(got.draws)), slices.Sorted(maps.Keys(want.draws)); !slices.Equal(a, b) {
			t.Errorf("%s: the files of draws are %q, and %q of the command line", name, a, b)
		}
		for part, data := range want.draws {
			if got.draws[part] != data {
				t.Errorf("%s: %s differs", name, part)
			}
		}
		if a, b := slices.Sorted(maps.Keys(got.summary)), slices.Sorted(maps.Keys(want.summary)); !slices.Equal(a, b) {
			t.Errorf("%s: the keys of the summary are %q, and %q of the command line", name, a, b)
		}
		for key, value := range want.summary {
			if !reflect.DeepEqual(got.summary[key], value) {
				t.Errorf("%s: %q of the summary is\n%v\nand of the command line\n%v", name, key, got.summary[key], value)
			}
		}
	}
}

// A keptRun is what a run left, without what differs between any two.
type keptRun struct {
	draws   map[string]string
	summary map[string]any
}

// readRun reads the directory of a run.
func readRun(t *testing.T, dir fs.FS) keptRun {
	t.Helper()
	r := keptRun{draws: make(map[string]string)}
	if err := fs.WalkDir(dir, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasPrefix(name, "draws/") {
			return err
		}
		data, err := fs.ReadFile(dir, name)
		r.draws[name] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	data, err := fs.ReadFile(dir, "summary.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // digit for digit
	if err := d.Decode(&r.summary); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"timing", "checksum"} { // the checksum is of the rest, too
		delete(r.summary, key)
	}
	return r
}

// posts sends bytes to the program on the site, and waits until they are in the storage.
func (w *walk) posts(path string, data []byte) {
	w.t.Helper()
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](fmt.Sprintf(`kir.fetch(%q, {method: 'POST', headers: {'Content-Type': 'application/octet-stream'}, body: Uint8Array.from(atob(%q), c => c.charCodeAt(0))}).then(async r => {
		if (!r.ok) return await r.text();
		await kir.kept();
		return '';
	})`, path, base64.StdEncoding.EncodeToString(data)), chromedp.EvalAwaitPromise))
	if err != nil || text != "" {
		w.t.Fatal(path, err, text)
	}
}
