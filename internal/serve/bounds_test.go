package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kir/internal/compile"
	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/testonly/testmode"
	"kir/property"
)

// sendHead begins a request with a body of a length, of which nothing is sent.
func (c *client) sendHead(length int, key bool) net.Conn {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.server.Listener.Addr().String())
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close() })
	head := fmt.Sprintf("POST /do HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", c.server.Listener.Addr(), length)
	if key {
		head += fmt.Sprintf("Authorization: Bearer %s\r\n", c.guard.key)
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		c.t.Fatal(err)
	}
	return conn
}

// answerOf returns the status of what is answered on a connection, within a time.
func answerOf(conn net.Conn, within time.Duration) (int, error) {
	if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// TestBodies: a body that does not arrive is not waited for, one of who is not let in
// not at all, and all bodies together have a bound.
func TestBodies(t *testing.T) {
	c := serving(t, smallCocktails(t))
	c.session.bodyTimeout = time.Minute // those that are held are to stay on a busy machine, too
	if status, err := answerOf(c.sendHead(maxRequestBytes, false), 20*time.Second); status != http.StatusForbidden {
		t.Errorf("without the key: %d, %v", status, err)
	}
	var held []net.Conn
	for range maxConcurrentRequestBytes / maxRequestBytes {
		held = append(held, c.sendHead(maxRequestBytes, true))
	}
	// The request may come before the last of them has taken its room, and that one is then
	// refused: another takes its place.
	status := 0
	for range 100 {
		if status, _ = c.do(Request{Action: "name", Step: 1, Text: "a"}); status == http.StatusServiceUnavailable {
			break
		}
		time.Sleep(25 * time.Millisecond)
		held = append(held, c.sendHead(maxRequestBytes, true))
	}
	if status != http.StatusServiceUnavailable {
		t.Errorf("beside %d bytes of bodies: %d", maxConcurrentRequestBytes, status)
	}
	for _, conn := range held {
		conn.Close()
	}
	for range 100 {
		if status, _ = c.do(Request{Action: "name", Step: 1, Text: "a"}); status == http.StatusOK {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	if status != http.StatusOK {
		t.Errorf("when they are gone: %d", status)
	}
	if status, text := c.do(Request{Action: "name", Step: 1, Text: strings.Repeat("a", maxRequestBytes)}); status != http.StatusBadRequest || !strings.Contains(text, "too long") {
		t.Errorf("a body that is too long: %d %s", status, text)
	}

	c.session.bodyTimeout = 200 * time.Millisecond
	conn := c.sendHead(100, true)
	if _, err := io.WriteString(conn, `{"do":`); err != nil {
		t.Fatal(err)
	}
	if status, err := answerOf(conn, 20*time.Second); status != http.StatusBadRequest {
		t.Errorf("half a body: %d, %v", status, err)
	}
}

// TestHistoryBound: a history that is full takes no more, and stays as it is; one with
// more steps than there may be is refused before they are in memory.
func TestHistoryBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.yaml")
	h, err := openHistory(path, []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	added := func(parent int, words, text string) error {
		return h.changeAndSave(func(next *history) error { next.addStep(parent, words, text); return nil })
	}
	if err := added(1, "second", "b"); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	var full *inputerr.Error
	if err := added(2, "long", strings.Repeat("a", maxHistoryBytes)); !errors.As(err, &full) || full.Message != "the history is full" {
		t.Errorf("beyond its bytes: %v", err)
	}
	if is, err := os.ReadFile(h.path); err != nil || string(is) != string(kept) || len(h.Steps) != 2 || h.Current != 2 {
		t.Errorf("a refused step leaves %d steps, at %d: %v", len(h.Steps), h.Current, err)
	}
	for len(h.Steps) < maxSteps {
		h.addStep(1, "", "c")
	}
	if err := added(1, "one more", "d"); !errors.As(err, &full) || len(h.Steps) != maxSteps {
		t.Errorf("beyond its steps: %v", err)
	}
	if err := h.save(); err != nil {
		t.Fatal(err)
	}
	if again, err := openHistory(path, []byte("a")); err != nil || len(again.Steps) != maxSteps {
		t.Errorf("a full history is not read: %v", err)
	}
	more := testmode.Pick(20<<20, 1<<20)
	many := `{"current": 1, "steps": [` + strings.Repeat("{},", more) + `{}]}`
	if err := os.WriteFile(h.path, []byte(many), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openHistory(path, []byte("a")); !errors.As(err, &full) || full.Message != "this is no history of a problem" || !strings.Contains(fmt.Sprint(full.Err), "there are more than 10000 steps") {
		t.Errorf("%d steps: %v", more, err)
	}
	if err := errors.Join(os.WriteFile(h.path, nil, 0o644), os.Truncate(h.path, maxHistoryBytes+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := openHistory(path, []byte("a")); !errors.As(err, &full) || full.Message != "the history is too large" {
		t.Errorf("a long file: %v", err)
	}
}

// TestTastedBound: a file of comparisons takes as many as are learnt from, and no more.
func TestTastedBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), pairsFileName)
	better, worse := map[string]int{"Gin": 10}, map[string]int{"Rum": 10}
	for k := range property.MaxPairs {
		if n, err := appendPair(path, 0, better, worse); err != nil || n != k+1 {
			t.Fatalf("pair %d: %d, %v", k+1, n, err)
		}
	}
	var full *inputerr.Error
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := appendPair(path, 0, better, worse); !errors.As(err, &full) {
		t.Errorf("one more: %v", err)
	}
	if is, err := os.ReadFile(path); err != nil || string(is) != string(kept) {
		t.Errorf("what is refused is written: %v", err)
	}
	if n, err := appendPair(path, 3, better, worse); err != nil || n != 4 {
		t.Errorf("after going back to 3 pairs: %d, %v", n, err)
	}
	if err := os.Truncate(path, maxPairsBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := appendPair(path, 0, better, worse); !errors.Is(err, file.ErrTooLong) {
		t.Errorf("a long file: %v", err)
	}
}

// TestEvicted: of more steps than are kept the first are let go, and no run stays on the
// disk once its list is shown.
func TestEvicted(t *testing.T) {
	runs := make(chan string, 100)
	s, err := newSession(t.Context(), Options{File: smallCocktails(t), waitTimes: soon(), Run: func(ctx context.Context, _ *compile.Problem, dir string, _ func(run.Progress)) (*report.Model, error) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		runs <- dir
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.endAllWork(); err != nil {
			t.Error(err)
		}
	}()
	s.startWork()
	first := <-runs
	for k := range maxKeptStepWorks + 3 {
		if err := s.applyChanges(fmt.Sprint(k), (&Request{Action: "seed", Rule: k + 2}).only(t)...); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	kept := len(s.workByStep)
	s.mu.Unlock()
	if kept > maxKeptStepWorks {
		t.Errorf("%d steps are kept", kept)
	}
	for last := fmt.Sprintf("step-%d", maxKeptStepWorks+4); filepath.Base(<-runs) != last; { // some of those between may have come to it
	}
	var left []string
	for range 1200 {
		if left, err = filepath.Glob(filepath.Join(s.scratchDir.path, "run-*")); err != nil || len(left) == 1 && left[0] != filepath.Dir(first) {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	if err != nil || len(left) != 1 || left[0] == filepath.Dir(first) {
		t.Errorf("on the disk are %q: %v", left, err)
	}
}

// childServer tells the test binary to serve a problem, as another process.
const childServer = "KIR_TEST_SERVE"

func TestMain(m *testing.M) {
	testmode.CollectRarely()
	if problem := os.Getenv(childServer); problem != "" {
		if _, err := newScratch(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("ready")
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// TestLeftBehind: what a server that was killed left in the temporary directory the next
// one removes, and nothing of one that is at work or of somebody else.
func TestLeftBehind(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	if os.TempDir() != temporary {
		t.Skip("the temporary directory has another name here")
	}
	child := func() (*exec.Cmd, string) {
		t.Helper()
		before, _ := filepath.Glob(filepath.Join(temporary, "*"))
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), childServer+"=1")
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(line, err)
		}
		after, _ := filepath.Glob(filepath.Join(temporary, "*"))
		for _, path := range after {
			if !strings.Contains(strings.Join(before, "\n"), path) {
				return c, path
			}
		}
		t.Fatal("it has no directory")
		return nil, ""
	}
	killed, left := child()
	if err := errors.Join(os.MkdirAll(filepath.Join(left, "run-1", "step-1", "draws"), 0o777), killed.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	killed.Wait()
	precious := filepath.Join(t.TempDir(), "precious")
	others := []string{scratchDirPrefix, scratchDirPrefix + "mine", "kir-123", "other-serve-1"}
	for _, name := range others {
		if err := os.Mkdir(filepath.Join(temporary, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(precious, 0o777), os.Symlink(precious, filepath.Join(temporary, scratchDirPrefix+"77")), os.WriteFile(filepath.Join(temporary, scratchDirPrefix+"78"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	at, held := child()
	defer func() {
		at.Process.Kill()
		at.Wait()
	}()
	s, err := newScratch()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed server left stays: %v", err)
	}
	for _, path := range append(others, filepath.Base(held), scratchDirPrefix+"77", scratchDirPrefix+"78", filepath.Base(s.path)) {
		if _, err := os.Lstat(filepath.Join(temporary, path)); err != nil {
			t.Error(err)
		}
	}
	if err := s.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it stays at the end: %v", err)
	}
	if entries, err := os.ReadDir(precious); err != nil || len(entries) > 0 {
		t.Errorf("through a link %v was made: %v", entries, err)
	}
}
