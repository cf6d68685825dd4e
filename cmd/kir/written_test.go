package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kir/internal/testonly/testmode"
)

// linkedRecipes and linkedProblem are what the commands of TestWrittenLinks work on: a forest to
// train, and rules whose counts are worth keeping.
const (
	linkedRecipes = "recipe,ingredient,amount,unit,taste\n" +
		"A,Gin,50,ml,Fresh\nA,Lime,20,ml,Fresh\nB,Gin,40,ml,Boozy\nB,Campari,30,ml,Boozy\nC,Rum,40,ml,Fresh\nC,Lime,20,ml,Fresh\nD,Rum,40,ml,Boozy\nD,Campari,40,ml,Boozy\n"
	linkedProblem = "recipes: recipes.csv\ntotal: 20\nsparsity: {uniform: [1, 3]}\nproperties: {y: {expression: \"0.2 + share('Gin')\"}}\n" +
		"constraints:\n  - limit: {attribute: cost, max: 3.3333}\n  - limit: {attribute: sugar, max: 7.77}\n" +
		"ingredients: ingredients.csv\nsampler: {kernel: balanced, chains: 2, warmup: 20, draws: 30, seed: 5}\nsearch: {effort: 0.1}\n"
	// Rules that are measured, which is worth keeping.
	measuredProblem = "ingredients: many.csv\ntotal: 1000\nsparsity: {uniform: [6, 8]}\nconstraints:\n  - limit: {attribute: cost, max: 40}\n"
	// A campaign.
	roundsProblem = "total: 20\ningredients: [Gin, Rum, Lime]\nsparsity: {uniform: [1, 3]}\nproperties: {y: {forest: {label: liking, maximize: true}}}\n"
	// A replay.
	triedRecipes = "recipe,Gin,Rum,Lime,liking\na,5,9,3,60\nb,2,7,9,41\nc,9,1,4,72\nd,7,7,2,66\ne,1,8,8,35\nf,6,2,9,58\ng,8,5,3,75\nh,3,3,7,48\n" +
		"i,4,9,1,57\nj,9,6,6,69\nk,5,4,2,71\nl,2,1,9,39\nm,7,3,5,74\nn,8,9,7,55\no,6,8,4,63\np,1,2,3,44\n"
	linkedIngredients = "name,cost,sugar\nGin,3.17,1.03\nLime,1.71,9.91\nRum,4.13,2.27\nCampari,5.19,19.3\n"
)

// A writer is a command that writes files, from a directory with a problem, tables and a
// run.
type writer struct {
	args string
	// passing are files that are there only while it runs.
	passing []string
}

var writers = []writer{
	{args: "check measured.yaml"},
	{args: "init recipes.csv -o new/made.yaml"},
	{args: "train recipes.csv --label taste -o forest.json"},
	{args: "trust programs.yaml"},
	{args: "sample problem.yaml -o again"},
	{args: "sample problem.yaml --shard 1/2 -o shards"},
	{args: "sample problem.yaml --pin Gin -o other --save changed.yaml"},
	{args: "resume run --draws 60"},
	{args: "merge run"},
	{args: "report run"},
	{args: "report run -o page.html --figures figures"},
	{args: "show run --csv -o table.csv"},
	{args: "next rounds.yaml", passing: []string{".rounds.results.csv.lock"}},
	{args: "next rounds.yaml -n 2 -o table.xlsx"},
	{args: "record rounds.yaml again.csv", passing: []string{".rounds.results.csv.lock"}},
	{args: "record again.yaml 1-1 liking=4 --correct", passing: []string{".again.results.csv.lock"}},
	{args: "campaign rounds.yaml -o rounds.html"},
	{args: "replay tried.csv --repeat 1 --trials 4 --start 3 -o replay.html --figures drawn"},
	{args: "serve problem.yaml --no-open --address 127.0.0.1:0", passing: []string{".problem.yaml.lock"}},
}

// TestWrittenLinks: no command writes through a link. Each file and directory that a command
// writes is first seen, and then a link in its place, to a file that must stay as it is,
// to one that must not come to be, or to a directory that must stay empty. The long form does so
// for each file of each chain and each figure.
func TestWrittenLinks(t *testing.T) {
	base := t.TempDir()
	many := "name,cost\n"
	for i := range 30 {
		many += fmt.Sprintf("i%d,%d.%03d\n", i, (31+17*i)%90, (191+379*i)%1000)
	}
	for name, text := range map[string]string{
		"recipes.csv": linkedRecipes, "problem.yaml": linkedProblem, "ingredients.csv": linkedIngredients, "measured.yaml": measuredProblem, "many.csv": many,
		"rounds.yaml": roundsProblem, "again.yaml": roundsProblem, "again.csv": "recipe,Gin,Rum,liking\nmine,1,1,7\n", "tried.csv": triedRecipes,
		"again.results.csv": "id,round,recipe,ingredient,amount,unit,liking,status,time\n1-1,1,mine,Gin,10,,3,made,2026-01-02T12:00:00Z\n",
		"programs.yaml":     "total: 20\ningredients: [Gin, Rum]\nsparsity: {uniform: [1, 2]}\nproperties: {p: {program: {command: [sh, -c, cat]}}}\n",
	} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(base, "new"), 0o755); err != nil {
		t.Fatal(err)
	}
	// kir runs a command in a directory, which is also the home of the user's settings.
	kir := func(dir, line string) {
		t.Helper()
		t.Chdir(dir)
		t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
		t.Setenv("HOME", dir)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		var out bytes.Buffer
		if !strings.HasPrefix(line, "serve ") {
			_ = execute(ctx, strings.Fields(line), &out, &out) // it may refuse
			return
		}
		serveAndSteer(t, ctx, line)
	}
	kir(base, "sample problem.yaml -o run")
	if err := os.RemoveAll(filepath.Join(base, ".kir-cache")); err != nil {
		t.Fatal(err)
	}
	for _, w := range writers {
		first := t.TempDir()
		if err := os.CopyFS(first, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		before := stampsOf(t, first)
		kir(first, w.args)
		written, at := 0, stampsOf(t, first)
		for _, name := range w.passing {
			at[name] = "written in passing"
		}
		alike := make(map[string]bool)
		for _, name := range slices.Sorted(maps.Keys(at)) {
			stamp := at[name]
			if before[name] == stamp || strings.HasSuffix(name, ".new") {
				continue
			}
			written++
			group := writtenAlike(name)
			if !testmode.Enabled() && alike[group] {
				continue
			}
			alike[group] = true
			for _, kind := range []string{"file", "nothing", "directory"} {
				if (kind == "directory") != (stamp == "dir") {
					continue
				}
				// Where a person says that something is to be made, and in the directory
				// of the person's own settings, links to directories are the person's.
				if kind == "directory" && (slices.Contains(strings.Fields(w.args), name) || strings.HasPrefix(name, "config")) {
					continue
				}
				linked(t, kir, base, w.args, name, kind)
			}
		}
		if written == 0 {
			t.Errorf("kir %s writes nothing", w.args)
		}
		t.Logf("kir %s: %d files and directories", w.args, written)
	}
}

var digits = regexp.MustCompile(`[0-9]+`)

// writtenAlike returns what the names of files have in common that one statement of a loop
// writes: those of chains but for their numbers, and figures of one format. The short form of
// TestWrittenLinks has one file of each.
func writtenAlike(name string) string {
	if strings.HasPrefix(name, "figures/") {
		return "figures/*" + filepath.Ext(name)
	}
	return digits.ReplaceAllString(name, "#")
}

// linked runs a command where a link is in the place of one thing that it writes.
func linked(t *testing.T, kir func(dir, line string), base, line, name, kind string) {
	t.Helper()
	dir, precious := t.TempDir(), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, filepath.FromSlash(name))
	target := filepath.Join(precious, "kept")
	const text = "what must stay as it is\n"
	// A link to what was there is followed by what reads, and must not be by what writes.
	was, missing := os.ReadFile(at)
	if missing != nil {
		was = []byte(text)
	}
	var err error
	switch kind {
	case "file":
		err = os.WriteFile(target, was, 0o644)
	case "directory":
		err = os.Mkdir(target, 0o755)
	}
	if err := errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o755), os.RemoveAll(at), os.Symlink(target, at)); err != nil {
		t.Fatal(err)
	}
	stamp := stampsOf(t, precious)
	kir(dir, line)
	for name, is := range stampsOf(t, precious) {
		if stamp[name] != is {
			t.Errorf("kir %s with a link to a %s as %s wrote %s", line, kind, at, name)
		}
		delete(stamp, name)
	}
	if len(stamp) > 0 {
		t.Errorf("kir %s with a link to a %s as %s removed %v", line, kind, at, stamp)
	}
}

// stampsOf returns what tells whether a file was written, or a directory made, by name.
func stampsOf(t *testing.T, root string) map[string]string {
	t.Helper()
	stamps := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			stamps[filepath.ToSlash(name)] = "dir"
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		stamps[filepath.ToSlash(name)] = info.ModTime().String() + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return stamps
}

// withPageKey is a transport that sends the key of a page with each request.
type withPageKey struct {
	http.RoundTripper
	key string
}

func (k withPageKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return k.RoundTripper.RoundTrip(r)
}

// openPage opens an address that kir serve printed, and returns that of the page and what sends
// requests as the page does.
func openPage(address string, by http.RoundTripper) (root string, page *http.Client, err error) {
	root, token, _ := strings.Cut(address, "#token=")
	answer, err := (&http.Client{Transport: withPageKey{by, token}}).Post(root+"open", "", nil)
	if err != nil {
		return "", nil, err
	}
	defer answer.Body.Close()
	var opened struct{ Key string }
	if err := json.NewDecoder(answer.Body).Decode(&opened); err != nil {
		return "", nil, fmt.Errorf("%s: %s: %w", address, answer.Status, err)
	}
	return root, &http.Client{Transport: withPageKey{by, opened.Key}}, nil
}

// serveAndSteer runs kir serve, has it write all that it may, and ends it.
func serveAndSteer(t *testing.T, ctx context.Context, line string) {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	out, done := new(pageOutput), make(chan error, 1)
	go func() { done <- execute(ctx, strings.Fields(line), out, out) }()
	defer func() {
		stop()
		<-done
	}()
	address := ""
	for address == "" {
		if _, rest, ok := strings.Cut(out.String(), "http://"); ok && strings.Contains(rest, "\n") {
			address = "http://" + strings.Fields(rest)[0]
			break
		}
		select {
		case err := <-done: // it refuses
			done <- err
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	address, page, err := openPage(address, http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []string{
		`{"do":"ban","ingredient":"Lime"}`,
		`{"do":"prefer","better":{"Gin":20},"worse":{"Rum":20}}`,
		`{"do":"prefer","better":{"Gin":20},"worse":{"Campari":20}}`,
		`{"do":"back","step":2}`, // and what was said since is taken back
		`{"do":"prefer","better":{"Gin":20},"worse":{"Rum":20}}`,
		`{"do":"back","step":3}`,
		`{"do":"text","step":1,"text":` + strconv.Quote(linkedProblem+"name: written\n") + `}`,
		`{"do":"save","step":1,"text":"saved.yaml"}`,
		`{"do":"save","step":2,"text":"saved.yaml","over":true}`,
	} {
		answer, err := page.Post(address+"do", "application/json", strings.NewReader(request))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	// The step is read once it has draws, or is refused.
	answer, err := page.Get(address + "amounts?of=Gin")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}
