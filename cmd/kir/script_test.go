package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"kir/internal/testonly/testmode"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kir": func() { os.Exit(runMain(patient(context.Background()))) },
		"kir-that-panics": func() {
			go func() { time.Sleep(100 * time.Millisecond); panic("a mistake") }()
			main() // which waits for a pipe
		},
	})
}

// TestScripts runs the command as a user does. $EXAMPLES is the repository's
// directory of examples; [long] holds where tests run in full.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			// A process collects its small heap several times as it starts, which takes a quarter of a
			// short command's time.
			e.Setenv("GOGC", "400")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":  status,
			"flip":    flip,
			"refused": refused,
			"modes":   modes,
		},
		Condition: func(name string) (bool, error) {
			if name != "long" {
				return false, fmt.Errorf("no condition %q", name)
			}
			return testmode.Enabled(), nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// flip changes the first of a text in a file: flip FILE OLD NEW.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: flip file old new")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o644))
}

// modes checks that everything below has the same permissions, and directories those to
// be searched, too: modes OCTAL PATH...
func modes(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	for _, root := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(root), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			least := fs.FileMode(want)
			if d.IsDir() {
				least |= least & 0o444 >> 2
			}
			// What the user's umask denies may be missing, nothing else.
			if is := info.Mode().Perm(); is&^least != 0 || is&0o700 != least&0o700 {
				return fmt.Errorf("%s has the mode %#o, want %#o", path, is, least)
			}
			return nil
		}))
	}
}

// refused checks that commands end with status 2 and the way to allow a program.
func refused(ts *testscript.TestScript, _ bool, commands []string) {
	for _, command := range commands {
		status(ts, false, append([]string{"2", "kir"}, strings.Fields(command)...))
		said := ts.ReadFile("stderr")
		for _, want := range []string{"runs a program with your rights: ", "\n  in \"", "\n    \"sh\"\n    \"score.sh\"\n", "--allow-programs", "kir trust"} {
			if !strings.Contains(said, want) {
				ts.Fatalf("kir %s says %q without %q", command, said, want)
			}
		}
	}
}

// status runs a command and checks its exit status: status N kir ARGS...
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command args...")
	}
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		got = "1"
		if exit, ok := err.(interface{ ExitCode() int }); ok {
			got = string(rune('0' + exit.ExitCode()))
		}
	}
	if got != args[0] {
		ts.Fatalf("the exit status is %s, want %s", got, args[0])
	}
}
