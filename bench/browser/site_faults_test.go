package browser_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
	"github.com/xuri/excelize/v2"
)

// warned is whether the line above the page says something.
func warned(text string) string {
	return "document.getElementById('kir-warning') && !document.getElementById('kir-warning').hidden && document.getElementById('kir-warning').textContent.includes('" + text + "')"
}

// spritz is a table of results.
func spritz(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "spritz", "trials.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSiteFull: where the storage of a browser is full the page says so, and goes on. What it
// could not store is in the file that is saved, and in the storage once there is room.
func TestSiteFull(t *testing.T) {
	w, host, address := openSite(t)
	w.goes(address)
	w.begins()
	quota := func(bytes *float64) {
		t.Helper()
		if _, err := chromedp.Call(w.ctx, storage.OverrideQuotaForOrigin, storage.OverrideQuotaForOriginParams{Origin: host.URL, QuotaSize: bytes}); err != nil {
			t.Fatal(err)
		}
	}
	quota(new(float64(1)))
	w.drops("trials.csv", spritz(t))
	w.is("the table", "!document.getElementById('go').disabled && document.getElementById('go').offsetParent")
	w.click("#go")
	w.is("a warning", warned("is full"))
	w.accessible("the warning")
	quota(nil)
	w.is("no warning", "document.getElementById('kir-warning').hidden")
	w.is("the button", "document.getElementById('go')?.offsetParent || document.querySelectorAll('#list .card').length > 0")
	w.does("document.getElementById('go')?.click()")
	w.is("a first shortlist", "document.querySelectorAll('#list .card').length > 0")
	text, err := fs.ReadFile(w.archive("/site/kir.zip"), "trials/trials.csv")
	if err != nil || !bytes.Equal(text, spritz(t)) {
		t.Errorf("the saved file has not the table: %v", err)
	}
	w.crashes()
	second, cancel := chromedp.NewContext(w.ctx)
	defer cancel()
	other := &walk{t, second}
	other.goes(address)
	other.is("the problem again", "document.querySelectorAll('#steps li').length === 1")
}

// TestSiteBomb: a workbook that unpacks to more than a memory, and one with more rows than any
// table, are refused in plain words, and the page goes on.
func TestSiteBomb(t *testing.T) {
	w, _, address := openSite(t)
	w.goes(address)
	w.begins()
	for name, data := range map[string][]byte{"bomb.xlsx": bomb(t), "rows.xlsx": sheetOf(t, 5<<20)} {
		w.drops(name, data)
		w.is(name+" to be refused", "/too many elements|more than \\d+ MiB|more than [\\d,]+ bytes/.test(document.getElementById('said').textContent + document.getElementById('faults').textContent)")
		w.goes(address)
		w.begins()
	}
	w.drops("trials.csv", spritz(t))
	w.is("the table", "!document.getElementById('go').disabled && document.getElementById('go').offsetParent")
}

// bomb returns a workbook with a sheet of 4 GiB of zeros.
func bomb(t *testing.T) []byte {
	t.Helper()
	f := excelize.NewFile()
	plain, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return withSheet(t, plain.Bytes(), io.LimitReader(zeros{}, 4<<30))
}

// sheetOf returns a workbook with a sheet of so many rows.
func sheetOf(t *testing.T, rows int) []byte {
	t.Helper()
	plain, err := excelize.NewFile().WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return withSheet(t, plain.Bytes(), io.MultiReader(strings.NewReader(`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`),
		strings.NewReader(strings.Repeat("<row/>", rows)), strings.NewReader("</sheetData></worksheet>")))
}

// withSheet returns a workbook with another sheet in place of its first.
func withSheet(t *testing.T, workbook []byte, sheet io.Reader) []byte {
	t.Helper()
	old, err := zip.NewReader(bytes.NewReader(workbook), int64(len(workbook)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range old.File {
		if f.Name != "xl/worksheets/sheet1.xml" {
			if err := z.Copy(f); err != nil {
				t.Fatal(err)
			}
			continue
		}
		part, err := z.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(part, sheet); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// TestSiteMemory: where a browser has too little memory for a problem the page says so rather
// than hang, what was stored is kept, and there is a way to something else.
func TestSiteMemory(t *testing.T) {
	const pages = "--wasm-max-mem-pages=1000" // of 64 KiB: enough to start, and not to learn thousands of recipes
	head, rows, _ := bytes.Cut(spritz(t), []byte("\n"))
	table := append(slices.Clone(head), '\n')
	for k := range 30 {
		for row := range bytes.Lines(rows) {
			table = fmt.Appendf(table, "%d of %s", k, row)
		}
	}
	w, _, address := openSite(t, chromedp.Flag("js-flags", pages))
	w.goes(address)
	w.begins()
	w.drops("trials.csv", table)
	w.is("the table, or the end before", "!document.getElementById('go').disabled && document.getElementById('go').offsetParent || "+warned("kir has stopped"))
	w.does("document.getElementById('go').click()")
	w.is("the end", warned("kir has stopped"))
	w.is("its reason", warned("the memory that a browser has for it is not enough"))
	w.accessible("the warning")
	w.does("[...document.querySelectorAll('#kir-warning button')].find(b => b.textContent === 'Begin with another table').click()")
	w.is("the page again", "!document.getElementById('kir-warning') && document.getElementById('drop')?.offsetParent && document.getElementById('kir-site')")
	text, err := fs.ReadFile(w.archive("/site/kir.zip"), "trials/trials.csv")
	if err != nil || !bytes.Equal(text, table) {
		t.Errorf("the table is not kept: %v", err)
	}
}

// TestSiteFromFile: opened as a file, without a host, the site answers a table as it does from
// one, keeps it, and asks for nothing but its files; the documents can be read.
func TestSiteFromFile(t *testing.T) {
	w, host, _ := openSite(t)
	host.Close()
	seen := new(witness)
	if err := chromedp.Listen(w.ctx, seen.see); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(w.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	address := "file://" + filepath.ToSlash(builtSite(t)) + "/index.html"
	begun := time.Now()
	w.goes(address)
	w.begins()
	t.Logf("the page is there after %.1f s", time.Since(begun).Seconds())
	w.drops("trials.csv", spritz(t))
	w.is("the table", "!document.getElementById('go').disabled && document.getElementById('go').offsetParent")
	w.click("#go")
	w.settled(1)
	dir := t.TempDir()
	if err := os.CopyFS(dir, w.archive("/site/kir.zip")); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(t.TempDir(), "run")
	kirDoes(t, "sample", filepath.Join(dir, "trials", "problem.yaml"), "-o", run, "--quiet")
	if got, want := w.answer("/csv"), kirDoes(t, "show", run, "--best", "20", "--csv"); got != want {
		t.Errorf("the shortlist is\n%s\nand the command line's\n%s", got, want)
	}
	messages, requests := seen.take()
	if len(messages) > 0 {
		t.Errorf("the console of the browser says %q", messages)
	}
	w.crashes()
	second, cancel := chromedp.NewContext(w.ctx)
	defer cancel()
	other := &walk{t, second}
	other.goes(address)
	other.is("the problem again", "document.querySelectorAll('#steps li').length === 1")
	other.does("location.assign([...document.querySelectorAll('#kir-site a')].find(a => a.textContent === 'Documents').href)")
	other.is("the documents", "document.querySelector('h1')?.textContent === 'kir'")
	_, more := seen.take()
	for _, r := range append(requests, more...) {
		if !strings.HasPrefix(r, "file://"+filepath.ToSlash(builtSite(t))) && !strings.HasPrefix(r, "blob:") && !strings.HasPrefix(r, "data:") && r != "about:blank" {
			t.Errorf("the page asks for %q", r)
		}
	}
}
