//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"kir/internal/testonly/testmode"
)

// TestFullDisk: what a command makes is all there when it ends well, whatever room the
// disk has; where mounting one is allowed.
func TestFullDisk(t *testing.T) {
	if testmode.RaceDetector {
		t.Skip("many commands, and no new way of them")
	}
	dir := t.TempDir()
	program, disk := filepath.Join(dir, "kir"), filepath.Join(dir, "disk")
	// Of two ingredients there are few figures, and as many kinds of them.
	few := strings.NewReplacer("total: 20", "total: 4", "Vodka, Campari, ", "", "[1, 3]", "[1, 2]").Replace(sharesProblem)
	problem := strings.Replace(testmode.Pick(sharesProblem, few), "draws: 20000", "draws: 50", 1)
	if err := errors.Join(os.Mkdir(disk, 0o777), os.Symlink(os.Args[0], program), os.WriteFile(filepath.Join(dir, "problem.yaml"), []byte(problem), 0o644),
		os.WriteFile(filepath.Join(dir, "recipes.csv"), []byte("recipe,ingredient,amount\nA,Gin,1\nA,Lime,2\nB,Gin,2\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	kir := func(line string) error {
		c := exec.Command(program, strings.Fields(line)...)
		c.Dir = dir
		return c.Run()
	}
	if err := kir("sample problem.yaml -o run"); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"init recipes.csv -o disk/new.yaml", "report run -o disk/page.html", "report run --figures disk/figures"} {
		if err := kir(line); err != nil {
			t.Fatalf("kir %s: %v", line, err)
		}
		want := treeOf(t, disk)
		if err := errors.Join(os.RemoveAll(disk), os.Mkdir(disk, 0o777)); err != nil {
			t.Fatal(err)
		}
		tries := 0
		for pages, made := 2, ""; made != want; pages += 1 + pages/testmode.Pick(2, 1) { // of 4096 bytes
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("nr_blocks=%d", pages)); err != nil {
				t.Skip("mounting is not allowed here: ", err)
			}
			tries++
			err := kir(line)
			if made = treeOf(t, disk); (err == nil) != (made == want) {
				t.Errorf("kir %s with %d pages: %v, and there is\n%s\nwant\n%s", line, pages, err, made, want)
				made = want
			}
			if err := syscall.Unmount(disk, 0); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("kir %s: %d sizes", line, tries)
	}
}

// systemFaults is how many faults TestSystemFaults is to make: the table of faults in
// bench/RESULTS.md has the number. Without it, or without strace, there are none.
const systemFaults = "KIR_SYSTEM_FAULTS"

// A systemJob is a command, and what it makes.
type systemJob struct {
	name, args, makes string
	run               bool // makes a run, which is gone on with
}

// Calls of the system fail, or the process is killed at one, in all commands that write:
// what is there under its name is whole, and the same command, or kir resume where a
// run had begun, then makes what it would have made.
func TestSystemFaults(t *testing.T) {
	wanted, err := strconv.Atoi(os.Getenv(systemFaults))
	if _, none := exec.LookPath("strace"); err != nil || none != nil {
		t.Skip(systemFaults + " is not set, or there is no strace")
	}
	base := t.TempDir()
	program := filepath.Join(t.TempDir(), "kir")
	if err := os.Symlink(os.Args[0], program); err != nil {
		t.Fatal(err)
	}
	kir := func(dir string, trace []string, line string) ([]byte, error) {
		c := exec.Command(program, strings.Fields(line)...)
		if trace != nil {
			c = exec.Command("strace", append(trace, c.Args...)...)
		}
		c.Dir = dir
		return c.CombinedOutput()
	}
	must := func(dir, line string) []byte {
		t.Helper()
		c := exec.Command(program, strings.Fields(line)...)
		c.Dir = dir
		out, err := c.Output()
		if err != nil {
			t.Fatalf("kir %s: %v: %s", line, err, err.(*exec.ExitError).Stderr)
		}
		return out
	}
	recipes := "recipe,ingredient,amount,taste\n"
	for k, row := range []string{"Gin,50,Fresh Lime,20,Fresh", "Gin,40,Boozy Campari,30,Boozy", "Vodka,40,Fresh Lime,20,Fresh", "Vodka,40,Boozy Campari,40,Boozy"} {
		for _, cells := range strings.Fields(row) {
			recipes += fmt.Sprintf("R%d,%s\n", k, cells)
		}
	}
	problem := strings.Replace(sharesProblem, "draws: 20000", "draws: 50", 1)
	if err := errors.Join(os.WriteFile(filepath.Join(base, "recipes.csv"), []byte(recipes), 0o644), os.WriteFile(filepath.Join(base, "problem.yaml"), []byte(problem), 0o644)); err != nil {
		t.Fatal(err)
	}
	must(base, "sample problem.yaml -o run")
	must(base, "sample problem.yaml -o half")
	must(base, "sample problem.yaml -o long --draws 90")
	if long, err := os.ReadFile(filepath.Join(base, "long/run.json")); err != nil || os.WriteFile(filepath.Join(base, "half/run.json"), long, 0o644) != nil {
		t.Fatal(err)
	}
	jobs := []systemJob{
		{"sample", "sample problem.yaml -o new", "new", true},
		{"resume", "resume half", "half", true},
		{"extend", "resume run --draws 120", "run", true},
		{"merge", "merge run", "run", true},
		{"report", "report run -o page.html", "page.html", false},
		{"figures", "report run --figures figures", "figures", false},
		{"init", "init recipes.csv -o new.yaml", "new.yaml", false},
		{"train", "train recipes.csv --label taste -o forest.json", "forest.json", false},
	}
	// result is what a command made, or nothing.
	result := func(dir string, j systemJob) string {
		if j.run {
			return fmt.Sprintf("%x", sha256.Sum256(append(must(dir, "draws "+j.makes), must(dir, "show "+j.makes+" --best 9 --json")...)))
		}
		return treeOf(t, filepath.Join(dir, j.makes))
	}
	want := make([]string, len(jobs))
	for k, j := range jobs {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		must(dir, j.args)
		want[k] = result(dir, j)
	}
	r := rand.New(rand.NewPCG(5, 5))
	ways := []string{
		"openat:error=EMFILE", "openat:error=EIO", "write:error=ENOSPC", "write:error=EIO", "fsync:error=EIO", "renameat:error=EIO", "linkat:error=EIO", "mkdirat:error=ENOSPC",
		"write:signal=KILL", "fsync:signal=KILL", "renameat:signal=KILL", "linkat:signal=KILL", "openat:signal=KILL", "unlinkat:signal=KILL",
	}
	made, tried := make(map[string]int), 0
	for done := 0; done < wanted && tried < 5*wanted; tried++ {
		k := tried % len(jobs)
		j, way := jobs[k], ways[r.IntN(len(ways))]
		most := 12
		if strings.HasPrefix(way, "openat") {
			most = 60
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		log := filepath.Join(t.TempDir(), "log")
		call, _, _ := strings.Cut(way, ":")
		inject := fmt.Sprintf("inject=%s:when=%d", way, 1+r.IntN(most))
		out, failed := kir(dir, []string{"-f", "-qq", "-o", log, "-e", "trace=" + call, "-e", inject}, j.args)
		if text, err := os.ReadFile(log); err != nil || !bytes.Contains(text, []byte("INJECTED")) && !bytes.Contains(text, []byte("killed by SIGKILL")) {
			os.RemoveAll(dir)
			continue // there were fewer calls
		}
		done++
		made[j.name]++
		if failed == nil && !j.run && result(dir, j) != want[k] {
			t.Errorf("kir %s with %s ends well, and made something else", j.args, inject)
		}
		if !j.run && j.name != "figures" { // whole, or not there
			if is := result(dir, j); is != "" && is != want[k] {
				t.Errorf("kir %s with %s leaves half of %s: %s", j.args, inject, j.makes, out)
			}
		}
		again, err := kir(dir, nil, j.args)
		if err != nil && j.name == "sample" {
			again, err = kir(dir, nil, "resume new")
		}
		if err != nil && !bytes.Contains(again, []byte("the run is complete")) && !bytes.Contains(again, []byte("exists and is not overwritten")) {
			t.Errorf("kir %s after %s: %v: %s", j.args, inject, err, again)
		} else if is := result(dir, j); is != want[k] {
			t.Errorf("kir %s after %s makes something else", j.args, inject)
		}
		os.RemoveAll(dir)
	}
	t.Logf("%v faults; %d asked for", made, wanted)
}

// treeOf returns the names and the contents of a file, or of all in a directory.
func treeOf(t *testing.T, path string) string {
	var all []string
	err := filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(e.Name(), ".new") { // what a killed process was writing
			return err
		}
		data, err := os.ReadFile(path)
		all = append(all, fmt.Sprintf("%s %x", e.Name(), sha256.Sum256(data)))
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
