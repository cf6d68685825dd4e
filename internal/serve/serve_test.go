package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kir/internal/problem"
	"kir/internal/report"
	"kir/internal/run"
)

// copied copies files of an example into a directory of the test's own and returns
// the path of the first.
func copied(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("..", "..", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, filepath.Base(names[0]))
}

func cocktails(t *testing.T) string {
	return copied(t, "cocktails/bar.yaml", "cocktails/kinds.csv", "cocktails/recipes.csv")
}

// A client is a page without a browser.
type client struct {
	t       *testing.T
	server  *httptest.Server
	session *Session
}

// serving serves a problem to a test, without the run that settles a step.
func serving(t *testing.T, file string) *client {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := newSession(ctx, Options{File: file, Run: func(ctx context.Context, _ *problem.Problem, _ string, _ func(run.Progress)) (*report.Model, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	g := newGuard(netip.MustParseAddr("127.0.0.1"), []string{"studio.lan"})
	server := httptest.NewServer(g.wrap(s.handler()))
	t.Cleanup(func() {
		cancel()
		err := s.end()
		for patient := 0; err != nil && patient < 20; patient++ {
			err = s.end()
		}
		if err != nil {
			t.Error(err)
		}
		server.Close()
	})
	s.begin()
	return &client{t, server, s}
}

// do sends a request as the page does, and returns the status and what is answered.
func (c *client) do(r Request) (int, string) {
	c.t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		c.t.Fatal(err)
	}
	response, err := http.Post(c.server.URL+"/do", "application/json", bytes.NewReader(data))
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// must is do of what must be done.
func (c *client) must(r Request) {
	c.t.Helper()
	if status, text := c.do(r); status != http.StatusOK {
		c.t.Fatalf("%+v: %d %s", r, status, text)
	}
}

// get gets a page.
func (c *client) get(path string) (int, string) {
	c.t.Helper()
	response, err := http.Get(c.server.URL + path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// until waits for a state.
func (c *client) until(what string, ok func(*State) bool) *State {
	c.t.Helper()
	for range 2400 { // a minute, as with the race detector
		if s := c.session.state(); ok(s) {
			return s
		}
		time.Sleep(25 * time.Millisecond)
	}
	c.t.Fatalf("%s: the state is %+v", what, c.session.state())
	return nil
}

// drawn waits until the current step has draws.
func (c *client) drawn() {
	c.t.Helper()
	for range 4800 { // two minutes: the race detector is slow on a machine that has more to do
		if _, _, kept, err := c.session.working(); err == nil && len(kept[0]) > 8 {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	c.t.Fatal("there are no draws")
}

// TestGuard: foreign names, names that are pointed here, other sites, and requests
// without the token are refused.
func TestGuard(t *testing.T) {
	c := serving(t, cocktails(t))
	send := func(method, host, path string, header map[string]string) (int, string) {
		r, err := http.NewRequest(method, c.server.URL+path, strings.NewReader(`{"do":"ban","ingredient":"Gin"}`))
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		for k, v := range header {
			r.Header.Set(k, v)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(response.Body, 200)) // events would not end
		return response.StatusCode, string(text)
	}
	for _, host := range []string{"localhost", "localhost:1", "LOCALHOST.", "127.0.0.1:80", "[::1]:9", "127.9.8.7", "studio.lan:8080"} {
		if status, text := send("GET", host, "/", nil); status != http.StatusOK {
			t.Errorf("the host %s: %d %s", host, status, text)
		}
	}
	for _, host := range []string{
		"evil.example", "localhost.evil.example", "evil.example:80", "127.0.0.1.nip.io", "localhost@evil.example", "10.0.0.1", "0.0.0.0", "[fe80::1]:80",
		"localhost:80.evil.example", "2130706433", "0x7f.1", "xn--lcalhost-54a", "studio.lan.evil.example", "[::ffff:10.0.0.1]",
	} {
		for _, path := range []string{"/", "/events", "/text", "/js/main.js"} {
			status, text := send("GET", host, path, nil)
			if status != http.StatusMisdirectedRequest && status != http.StatusBadRequest {
				t.Errorf("the host %s gets %d from %s", host, status, path)
			}
			if status == http.StatusMisdirectedRequest && !strings.Contains(host, "@") && !strings.Contains(text, "--allow-host "+hostName(host)) {
				t.Errorf("the host %s is told %q", host, text)
			}
		}
	}
	was := c.session.history.Current
	for _, header := range []map[string]string{
		{"Sec-Fetch-Site": "cross-site", "Content-Type": "application/json"}, {"Sec-Fetch-Site": "same-site", "Content-Type": "application/json"},
		{"Origin": "http://evil.example", "Content-Type": "application/json"}, {"Origin": "null", "Content-Type": "application/json"},
		{"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"},
	} {
		if status, _ := send("POST", "", "/do", header); status != http.StatusForbidden && status != http.StatusBadRequest {
			t.Errorf("%v: %d", header, status)
		}
	}
	for _, method := range []string{"GET", "PUT", "DELETE", "HEAD"} {
		if status, _ := send(method, "", "/do", nil); status == http.StatusOK {
			t.Errorf("%s /do is done", method)
		}
	}
	if c.session.history.Current != was {
		t.Error("a refused request has changed something")
	}
	if status, _ := send("POST", "", "/do", map[string]string{"Origin": c.server.URL, "Content-Type": "application/json"}); status != http.StatusOK {
		t.Errorf("the page's own request: %d", status)
	}
	response, err := http.Get(c.server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	csp := response.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") {
		t.Errorf("the policy is %q", csp)
	}
}

// TestToken: beyond loopback an address without its token is of no use.
func TestToken(t *testing.T) {
	g := newGuard(netip.MustParseAddr("192.0.2.7"), nil)
	if len(g.token) < 20 {
		t.Fatalf("the token is %q", g.token)
	}
	h := g.wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "in") }))
	ask := func(target, host string, cookie *http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", target, nil)
		r.Host = host
		if cookie != nil {
			r.AddCookie(cookie)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := ask("/", "192.0.2.7:80", nil); w.Code != http.StatusForbidden {
		t.Errorf("without a token: %d", w.Code)
	}
	if w := ask("/?token="+g.token[:10], "192.0.2.7:80", nil); w.Code != http.StatusForbidden {
		t.Errorf("with half of it: %d", w.Code)
	}
	if w := ask("/?token="+g.token, "rebound.example", nil); w.Code != http.StatusMisdirectedRequest {
		t.Errorf("with it, by another name: %d", w.Code)
	}
	w := ask("/?token="+g.token, "192.0.2.7:80", nil)
	cookies := w.Result().Cookies()
	if w.Code != http.StatusOK || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || strings.Contains(w.Body.String(), "in\n") {
		t.Fatalf("with it: %d %v", w.Code, cookies)
	}
	if w := ask("/events", "192.0.2.7", cookies[0]); w.Body.String() != "in" {
		t.Errorf("with the cookie: %d %s", w.Code, w.Body)
	}
}

// TestPaths: nothing of the machine can be asked for, by an address, by a problem or
// by a name to save under.
func TestPaths(t *testing.T) {
	file := cocktails(t)
	secret := filepath.Join(filepath.Dir(filepath.Dir(file)), "secret.csv")
	if err := os.WriteFile(secret, []byte("recipe,ingredient,amount\nTOP SECRET,Gin,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(filepath.Dir(file), "link.csv")); err != nil {
		t.Fatal(err)
	}
	c := serving(t, file)
	for _, path := range []string{
		"/bar.yaml", "/../secret.csv", "/js/../../secret.csv", "/js/..%2f..%2f..%2fsecret.csv", "/js/%2e%2e/%2e%2e/secret.csv", "/js/..%5c..%5csecret.csv",
		"/js//etc/passwd", "/js/%2fetc%2fpasswd", "/.steps.json", "/recipes.csv", "/js/", "/assets/page.html", "//etc/passwd", "/js/main.js%00.css",
	} {
		if status, text := c.get(path); status == http.StatusOK || strings.Contains(text, "SECRET") {
			t.Errorf("%s: %d %.60s", path, status, text)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../secret.csv", secret, "link.csv", "./../" + filepath.Base(filepath.Dir(file)) + "/../secret.csv", "/etc/passwd"} {
		c.must(Request{Do: "text", Step: c.session.history.Current, Text: strings.Replace(string(text), "recipes.csv", name, 1)})
		s := c.until(name, func(s *State) bool { return s.Phase == "faulty" })
		if !strings.Contains(s.Fault.Message, "not in the problem's directory") {
			t.Errorf("%s: %s", name, s.Fault.Message)
		}
	}
	for _, name := range []string{"../x.yaml", "/tmp/x.yaml", "x", "x.csv", ".x.yaml", "a/b.yaml", `a\b.yaml`, "", "..", "bar.yaml", "link.csv"} {
		if status, text := c.do(Request{Do: "save", Step: 1, Text: name}); status == http.StatusOK {
			t.Errorf("saved as %q: %s", name, text)
		}
	}
	if err := os.Symlink(secret, filepath.Join(filepath.Dir(file), "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if status, _ := c.do(Request{Do: "save", Step: 1, Text: "link.yaml", Over: true}); status == http.StatusOK {
		t.Error("saved through a link")
	}
	c.must(Request{Do: "save", Step: 1, Text: "new.yaml"})
	if saved, err := os.ReadFile(filepath.Join(filepath.Dir(file), "new.yaml")); err != nil || !bytes.Equal(saved, text) {
		t.Errorf("saved is %q: %v", saved, err)
	}
}

// TestPrograms: a program that a problem names runs after its command was allowed,
// and not before; another command is asked for again.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	file, ran := filepath.Join(dir, "problem.yaml"), filepath.Join(dir, "ran")
	program := filepath.Join(dir, "score.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\nwhile read line; do echo '[]'; done\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	text := "ingredients: {count: 4}\ntotal: 10\nsparsity: {uniform: [1, 3]}\nproperties:\n  own: {program: {command: [./score.sh]}}\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	c := serving(t, file)
	s := c.until("asking", func(s *State) bool { return s.Phase == "asking" })
	if len(s.Asks) != 1 || !strings.Contains(s.Asks[0], "./score.sh") {
		t.Fatalf("it asks for %q", s.Asks)
	}
	for told := ""; !strings.Contains(told, `"phase":"asking"`); time.Sleep(5 * time.Millisecond) { // the test's time bounds it
		c.session.hub.mu.Lock()
		told = string(c.session.hub.latest["state"].data)
		c.session.hub.mu.Unlock()
	}
	c.get("/pair")
	c.get("/map")
	c.get("/leaves?change=" + `{"do":"ban","ingredient":"1"}`)
	time.Sleep(100 * time.Millisecond)
	if _, err := os.Stat(ran); err == nil {
		t.Fatal("the program has run unasked")
	}
	c.must(Request{Do: "allow", Text: s.Asks[0]})
	for range 200 {
		if _, err := os.Stat(ran); err == nil {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	if _, err := os.Stat(ran); err != nil {
		t.Error("the allowed program has not run")
	}
	c.must(Request{Do: "text", Step: 1, Text: strings.Replace(text, "[./score.sh]", "[./score.sh, -x]", 1)})
	c.until("asking again", func(s *State) bool { return s.Phase == "asking" })
}

// TestTwoProcesses: whoever comes second is told where the page is.
func TestTwoProcesses(t *testing.T) {
	file := cocktails(t)
	l, err := lockProblem(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.tell("http://127.0.0.1:1234/"); err != nil {
		t.Fatal(err)
	}
	if _, err := lockProblem(file); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:1234/") {
		t.Errorf("the second is told %v", err)
	}
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	if l, err = lockProblem(file); err != nil {
		t.Fatal(err)
	}
	if err := l.release(); err != nil {
		t.Error(err)
	}
}
