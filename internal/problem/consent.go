package problem

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"kir/internal/fault"
	"kir/internal/problem/yaml"
	"kir/property"
)

// A Command is a program that a problem names: it runs with the rights of who
// samples the problem, and so only where that was allowed, by [AllowPrograms] or by
// [Command.Trust].
type Command struct {
	Words []string // the program and its arguments; no shell reads them
	Dir   string   // where it runs

	key string // what is remembered of one that is trusted
}

// String returns the command as messages show it.
func (c *Command) String() string {
	return fault.Quote(strings.Join(c.Words, " ")) + " in " + fault.Quote(c.Dir)
}

type allowKey struct{}

// AllowPrograms lets the problems that are loaded with the context run programs.
func AllowPrograms(ctx context.Context) context.Context {
	return context.WithValue(ctx, allowKey{}, true)
}

// readCommand reads what a program's property runs, in the directory of a problem
// whose SHA-256 is known.
func readCommand(n *yaml.Node, dir, problem string) (*Command, error) {
	if err := n.Require("the program", "write {command: [python3, scorer.py]}", "command"); err != nil {
		return nil, err
	}
	words := n.Get("command").ItemsOrSelf()
	if len(words) == 0 {
		return nil, yaml.Hint(n.Get("command").Errorf("the command is empty"), "write {command: [python3, scorer.py]}")
	}
	c := new(Command)
	for _, w := range words {
		word, err := w.Str("a word of the command")
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(word, 0) {
			return nil, w.Errorf("a word of the command has a zero byte in it")
		}
		c.Words = append(c.Words, word)
	}
	err := c.find(dir, problem)
	if err != nil {
		e := words[0].Errorf("%v", err)
		e.Err = err
		return nil, yaml.Hint(e, "name a program on the PATH, or a path relative to the problem file such as ./scorer")
	}
	return c, nil
}

// find finds the program, and makes the key: of the problem, of where it runs, and of
// its words, with the contents of the program and of each word that names a file.
func (c *Command) find(dir, problem string) (err error) {
	if c.Dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	program, err := property.FindProgram(c.Words[0], c.Dir)
	if err != nil {
		return err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %q %q", problem, c.Dir, program, c.Words)
	for _, path := range append([]string{program}, c.Words[1:]...) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			continue // it may be run and not read
		}
		one := sha256.New()
		_, err = io.Copy(one, f)
		f.Close()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, " %x", one.Sum(nil))
	}
	c.key = hex.EncodeToString(h.Sum(nil))
	return nil
}

// trusted returns the file that says that the command is trusted.
func (c *Command) trusted() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "kir", "trusted", c.key), err
}

// Trusted says whether the command was trusted, and neither the problem nor what is
// run has changed since: the program and the files that its arguments name. What
// these load in turn is not looked at.
func (c *Command) Trusted() bool {
	path, err := c.trusted()
	if err == nil {
		_, err = os.Stat(path)
	}
	return err == nil
}

// Trust remembers, in the user's directory of configuration, that the command may run.
func (c *Command) Trust() error {
	path, err := c.trusted()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(c.String()+"\n"), 0o600)
}

// consent refuses a command that nobody has allowed. n is where it is named.
func (c *Command) consent(ctx context.Context, n *yaml.Node) error {
	if ctx.Value(allowKey{}) == true || c.Trusted() {
		return nil
	}
	return yaml.Hint(n.Errorf("the problem runs a program with your rights: %s", c), "look at it; then allow it this once with --allow-programs, or as long as it and the problem stay as they are with kir trust %s", fault.Quote(n.File))
}
