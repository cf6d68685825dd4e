// Command frozen tells whether a change of the code changes what kir does. It builds kir,
// runs it on every example, and compares the SHA-256 of all that it prints and writes (the
// draws, the tables, the pages, the messages, without times) with the list of hashes in
// frozen/hashes.txt.
//
// A change of the code's structure leaves every hash as it is. Before it, write the list for
// the commit that it starts from; afterwards compare the working tree:
//
//	go run -C bench ./frozen -commit HEAD -update
//	go run -C bench ./frozen
//
// The list in the tree is that of a commit at which such a change began or ended. It holds on
// every processor, since what kir stores is computed by internal/portable.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("frozen: ")
	commit := flag.String("commit", "", "commit to build and run; the working tree if empty")
	update := flag.Bool("update", false, "write the list anew")
	only := flag.String("only", "", "run this example alone, such as lotion")
	list := flag.String("list", "frozen/hashes.txt", "the list of hashes")
	keep := flag.String("keep", "", "new directory that keeps all outputs as they are hashed, to see what differs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := compare(ctx, *commit, *update, *only, *list, *keep); err != nil {
		log.Fatal(err)
	}
}

// compare runs the examples and compares the hashes with the list, or writes the list.
func compare(ctx context.Context, commit string, update bool, only, list, keep string) error {
	if update && only != "" {
		return fmt.Errorf("-update needs all examples: leave out -only")
	}
	dir, err := os.MkdirTemp("", "kir-frozen-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	source := ".."
	if commit != "" {
		source = filepath.Join(dir, "source")
		if err := extract(ctx, commit, source); err != nil {
			return err
		}
	}
	program := filepath.Join(dir, "kir")
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, "./cmd/kir")
	build.Dir, build.Stderr = source, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build kir: %w", err)
	}
	b := bench{program: program, hashes: map[string]string{}, keep: keep}
	for _, e := range examples {
		if only != "" && e.name != only {
			continue
		}
		work := filepath.Join(dir, "examples-"+e.name)
		if err := os.CopyFS(work, os.DirFS(filepath.Join(source, "examples"))); err != nil {
			return err
		}
		if err := b.run(ctx, work, e); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	if len(b.hashes) == 0 {
		return fmt.Errorf("there is no example %q", only)
	}
	if update {
		return write(list, b.hashes)
	}
	want, err := read(list)
	if err != nil {
		return err
	}
	return difference(want, b.hashes, only)
}

// extract writes the files of a commit into a new directory.
func extract(ctx context.Context, commit, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	archive := exec.CommandContext(ctx, "git", "-C", "..", "archive", "--end-of-options", commit)
	unpack := exec.CommandContext(ctx, "tar", "-x", "-C", dir)
	archive.Stderr, unpack.Stderr = os.Stderr, os.Stderr
	files, err := archive.StdoutPipe()
	if err != nil {
		return err
	}
	unpack.Stdin = files
	if err := unpack.Start(); err != nil {
		return err
	}
	if err := archive.Run(); err != nil {
		return errors.Join(fmt.Errorf("git archive %s: %w", commit, err), unpack.Wait())
	}
	return unpack.Wait()
}

// write writes the list of hashes, a line an output in the order of their names.
func write(path string, hashes map[string]string) error {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(hashes)) {
		fmt.Fprintf(&text, "%s  %s\n", hashes[name], name)
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

// read reads what write wrote.
func read(path string) (map[string]string, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close() // read only: nothing can be lost by it
	hashes := map[string]string{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		hash, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok {
			return nil, fmt.Errorf("%s: %q is no hash and name", path, lines.Text())
		}
		hashes[name] = hash
	}
	return hashes, lines.Err()
}

// difference prints the outputs whose hashes differ from the list, those that are missing
// and those that are new, and returns an error if there are any.
func difference(want, got map[string]string, only string) error {
	differ := 0
	report := func(verdict, name string) {
		differ++
		fmt.Printf("%-8s %s\n", verdict, name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if only != "" && !strings.HasPrefix(name, only+"/") {
			continue
		}
		switch hash, ok := got[name]; {
		case !ok:
			report("missing", name)
		case hash != want[name]:
			report("differs", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			report("new", name)
		}
	}
	if differ > 0 {
		return fmt.Errorf("%d of %d outputs are not as in the list", differ, len(got))
	}
	fmt.Printf("all %d outputs are as in the list\n", len(got))
	return nil
}
