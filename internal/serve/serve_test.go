package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/testonly/testmode"
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

// smallCocktails is cocktails for what does not depend on how well models predict.
func smallCocktails(t *testing.T) string { return withSmallForests(t, cocktails(t)) }

// withSmallForests has a problem of the cocktails learn by forests of few trees and returns its
// path: they are grown soon, and draws and looks take a fraction of the time. Tests in full have
// the models of the example.
func withSmallForests(t *testing.T, file string) string {
	t.Helper()
	if testmode.Enabled() {
		return file
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	small := regexp.MustCompile(`\{learn: \{(.*)\}\}`).ReplaceAllString(string(text), "{forest: {$1, trees: 8}}")
	if strings.Count(small, "trees: 8") != 2 {
		t.Fatalf("there are not two models in\n%s", text)
	}
	if err := os.WriteFile(file, []byte(small), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// A client is a page without a browser.
type client struct {
	t       *testing.T
	server  *httptest.Server
	session *Session
	guard   *guard
}

// withKey is the transport of a page: each request carries the key.
type withKey string

func (key withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(key))
	return http.DefaultTransport.RoundTrip(r)
}

// exchanged exchanges the token of an address for the key, and returns the status and the key.
func exchanged(t *testing.T, address string) (status int, key string) {
	t.Helper()
	root, token, _ := strings.Cut(address, "#token=")
	r, err := http.NewRequest("POST", root+"open", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ Key string }
	if response.StatusCode == http.StatusOK {
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
	}
	return response.StatusCode, answer.Key
}

// opened returns what sends requests as a tab does in which an address was opened.
func opened(t *testing.T, address string) *http.Client {
	t.Helper()
	status, key := exchanged(t, address)
	if status != http.StatusOK || key == "" {
		t.Fatalf("%s: %d", address, status)
	}
	return &http.Client{Transport: withKey(key)}
}

// serving serves a problem to a test, without the run that settles a step.
func serving(t *testing.T, file string) *client {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := newSession(ctx, Options{File: file, Run: func(ctx context.Context, _ *compile.Problem, _ string, _ func(run.Progress)) (*report.Model, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	g := newGuard(netip.MustParseAddrPort(server.Listener.Addr().String()), "http", []string{"studio.lan"})
	server.Config.Handler = g.requireAdmission(s.handler())
	server.Start()
	t.Cleanup(func() {
		cancel()
		err := s.endAllWork()
		for patient := 0; err != nil && patient < 20; patient++ {
			err = s.endAllWork()
		}
		if err != nil {
			t.Error(err)
		}
		server.Close()
	})
	s.startWork()
	return &client{t, server, s, g}
}

// send sends a request with the key.
func (c *client) send(method, path, kind string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequest(method, c.server.URL+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.guard.key)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	return http.DefaultClient.Do(r)
}

// do sends a request as the page does, and returns the status and what is answered.
func (c *client) do(r Request) (int, string) {
	c.t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		c.t.Fatal(err)
	}
	response, err := c.send("POST", "/do", "application/json", bytes.NewReader(data))
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
	response, err := c.send("GET", path, "", nil)
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
		if s := c.session.pageState(); ok(s) {
			return s
		}
		time.Sleep(25 * time.Millisecond)
	}
	c.t.Fatalf("%s: the state is %+v", what, c.session.pageState())
	return nil
}

// drawn waits until the current step has draws.
func (c *client) drawn() {
	c.t.Helper()
	for range 4800 { // two minutes: the race detector is slow on a machine that has more to do
		if _, kept, err := c.session.currentWork().loaded(); err == nil && len(kept[0]) > 8 {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	c.t.Fatal("there are no draws")
}

// TestGuard: foreign names, names that are pointed here, other sites, and requests
// without the token are refused.
func TestGuard(t *testing.T) {
	c := serving(t, smallCocktails(t))
	send := func(method, host, path string, header map[string]string) (int, string) {
		r, err := http.NewRequest(method, c.server.URL+path, strings.NewReader(`{"do":"ban","ingredient":"Gin"}`))
		if err != nil {
			t.Fatal(err)
		}
		if r.Header.Set("Authorization", "Bearer "+c.guard.key); host != "" {
			r.Host = host
		}
		if method != "POST" {
			r.Body, r.ContentLength = nil, 0
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
			if status == http.StatusMisdirectedRequest && !strings.Contains(host, "@") && !strings.Contains(text, "--allow-host "+normalizeHost(host)) {
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
	response, err := c.send("GET", "/", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	csp := response.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") {
		t.Errorf("the policy is %q", csp)
	}
}

// TestToken: without the key for which the token of an address is exchanged there is nothing but
// the empty page, on loopback and elsewhere; no cookie and no address opens more; the token is
// good once.
func TestToken(t *testing.T) {
	for _, address := range []string{"127.0.0.1:80", "[::1]:80", "192.0.2.7:80", "0.0.0.0:80"} {
		g := newGuard(netip.MustParseAddrPort(address), "http", nil)
		served := 0
		h := g.requireAdmission(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
		host := strings.Replace(address, "0.0.0.0", "192.0.2.9", 1)
		ask := func(method, target, host string, header ...string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(method, target, nil)
			r.Host = host
			for k := 0; k < len(header); k += 2 {
				r.Header.Add(header[k], header[k+1])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if len(w.Result().Cookies()) > 0 {
				t.Errorf("%s %s sets a cookie", method, target)
			}
			return w
		}
		used := 0
		url := g.newOneTimeAddress(func() { used++ })
		token := url[strings.LastIndex(url, "=")+1:]
		if !strings.HasPrefix(url, "http://"+address+"/#token=") || len(token) < 20 {
			t.Fatalf("the address is %q", url)
		}
		for _, target := range []string{"/", "/events", "/text", "/list", "/none", "/do", "/begin/view", "/open", "/js", "/page.css/", "/?token=" + token, "/events?token=" + token, "/events?key=" + g.key, "/do?token=" + token} {
			for _, method := range []string{"GET", "POST", "HEAD", "OPTIONS", "PUT"} {
				public := strings.HasPrefix(target, "/?") || target == "/"
				if public && (method == "GET" || method == "HEAD") {
					continue
				}
				for _, header := range [][]string{
					nil, {"Cookie", "kir-80=" + g.key}, {"Cookie", "kir key=" + g.key}, {"Cookie", "Authorization=Bearer " + g.key}, {"X-Kir-Key", g.key},
					{"Authorization", ""}, {"Authorization", "Bearer "}, {"Authorization", "Bearer " + token[:10]}, {"Authorization", "Bearer " + token + "A"}, {"Authorization", "Basic " + g.key},
				} {
					for _, host := range []string{host, "localhost", "rebound.example"} {
						if w := ask(method, target, host, header...); w.Code != http.StatusForbidden && w.Code != http.StatusMisdirectedRequest {
							t.Errorf("%s %s of %s with %q: %d", method, target, host, header, w.Code)
						}
					}
				}
			}
		}
		for _, method := range []string{"GET", "HEAD", "PUT"} {
			if w := ask(method, "/open", host, "Authorization", "Bearer "+token); w.Code != http.StatusForbidden {
				t.Errorf("%s with the token: %d", method, w.Code)
			}
		}
		if w := ask("GET", "/events", host, "Authorization", "Bearer "+token); w.Code != http.StatusForbidden {
			t.Errorf("the token is a key: %d", w.Code)
		}
		for _, foreign := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "http://127.0.0.1:81"}, {"Origin", "null"}} {
			if w := ask("POST", "/open", host, append(foreign, "Authorization", "Bearer "+token)...); w.Code != http.StatusForbidden {
				t.Errorf("another site with the token, %q: %d", foreign, w.Code)
			}
		}
		if w := ask("POST", "/open", "rebound.example", "Authorization", "Bearer "+token); w.Code != http.StatusMisdirectedRequest {
			t.Errorf("with the token, by another name: %d", w.Code)
		}
		if served+used > 0 {
			t.Errorf("%d requests were let in, and the token used %d times", served, used)
		}
		w := ask("POST", "/open", host, "Authorization", "Bearer "+token)
		var answer struct{ Key string }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK || answer.Key != g.key || strings.Contains(answer.Key, token) || used != 1 || served != 0 {
			t.Fatalf("with the token: %d %v", w.Code, err)
		}
		if w := ask("POST", "/open", host, "Authorization", "Bearer "+token); w.Code != http.StatusForbidden || used != 1 {
			t.Errorf("a second time: %d", w.Code)
		}
		if ask("GET", "/events", host, "Authorization", "Bearer "+answer.Key); served != 1 {
			t.Errorf("the key does not let in")
		}
		if w := ask("GET", "/events", "rebound.example", "Authorization", "Bearer "+answer.Key); w.Code != http.StatusMisdirectedRequest || served != 1 {
			t.Errorf("the key by another name: %d", w.Code)
		}
		if ask("GET", "/", host); served != 2 {
			t.Errorf("the empty page is not shown")
		}
		if w := ask("GET", "/", "rebound.example"); w.Code != http.StatusMisdirectedRequest || served != 2 {
			t.Errorf("the empty page by another name: %d", w.Code)
		}
		// Of two tabs one is let in.
		token = strings.TrimPrefix(g.newOneTimeAddress(nil), g.pageURL()+"#token=")
		var in atomic.Int32
		var both sync.WaitGroup
		for range 8 {
			both.Go(func() {
				if g.consumeToken(token) {
					in.Add(1)
				}
			})
		}
		if both.Wait(); in.Load() != 1 {
			t.Errorf("a token opened %d tabs", in.Load())
		}
	}
}

// TestPublicHoldsNothing: what is answered without the key is the same whatever is served.
func TestPublicHoldsNothing(t *testing.T) {
	files := []string{smallCocktails(t), copied(t, "spritz/problem.yaml", "spritz/trials.csv")}
	answers := make([][]string, len(files))
	for k, file := range files {
		c := serving(t, file)
		for _, path := range []string{"/", "/page.css", "/js/main.js", "/js/server.js", "/favicon.ico"} {
			response, err := http.Get(c.server.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(response.Body)
			if response.Body.Close(); err != nil || response.StatusCode >= 300 {
				t.Errorf("%s: %s, %v", path, response.Status, err)
			}
			answers[k] = append(answers[k], string(text))
		}
	}
	if !slices.Equal(answers[0], answers[1]) {
		t.Error("what everybody gets of two problems differs")
	}
}

// TestDoor: the file that takes a browser to the page can be read by nobody else, and is
// gone once it was used; then there is another address for another browser.
func TestDoor(t *testing.T) {
	c := serving(t, smallCocktails(t))
	var next []string
	c.session.options.OnNewAddress = func(address string) { next = append(next, address) }
	first := c.session.pageAddress(c.guard)
	door, err := c.session.writeLaunchFile(c.guard)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(door)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("%v: %v", info.Mode(), err)
	}
	text, err := os.ReadFile(door)
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(string(text), "href=\"")
	address, _, _ = strings.Cut(address, "\"")
	if address == first || !strings.HasPrefix(address, c.guard.pageURL()+"#token=") {
		t.Fatalf("the door is %s", text)
	}
	browsers := []*http.Client{opened(t, address)}
	if _, err := os.Stat(door); !errors.Is(err, os.ErrNotExist) || len(next) > 0 {
		t.Errorf("an open door stays: %v, %v", err, next)
	}
	for _, address := range []string{first, ""} {
		if address == "" {
			address = next[0]
		}
		browsers = append(browsers, opened(t, address))
		if status, _ := exchanged(t, address); status != http.StatusForbidden {
			t.Errorf("%s opens two tabs: %d", address, status)
		}
	}
	if len(next) != 2 || next[0] == next[1] {
		t.Errorf("the next addresses are %q", next)
	}
	for _, b := range browsers {
		response, err := b.Get(c.guard.pageURL() + "text?step=1")
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode != http.StatusOK {
			t.Errorf("an open browser gets %s", response.Status)
		}
	}
}

// TestPaths: nothing of the machine can be asked for, by an address, by a problem or
// by a name to save under.
func TestPaths(t *testing.T) {
	file := smallCocktails(t)
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
		c.must(Request{Action: "text", Step: c.session.history.Current, Text: strings.Replace(string(text), "recipes.csv", name, 1)})
		s := c.until(name, func(s *State) bool { return s.Phase == "faulty" })
		if !strings.Contains(s.Fault.Message, "not in the problem's directory") {
			t.Errorf("%s: %s", name, s.Fault.Message)
		}
	}
	for _, name := range []string{"../x.yaml", "/tmp/x.yaml", "x", "x.csv", ".x.yaml", "a/b.yaml", `a\b.yaml`, "", "..", "bar.yaml", "link.csv",
		"a\x1b[2J.yaml", "a\nb.yaml", "a\x00.yaml", "a\u009b.yaml", "a\u202elmay.yaml", "a\u200b.yaml", "-o.yaml"} {
		if status, text := c.do(Request{Action: "save", Step: 1, Text: name}); status == http.StatusOK {
			t.Errorf("saved as %q: %s", name, text)
		}
	}
	if err := os.Symlink(secret, filepath.Join(filepath.Dir(file), "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if status, _ := c.do(Request{Action: "save", Step: 1, Text: "link.yaml", Overwrite: true}); status == http.StatusOK {
		t.Error("saved through a link")
	}
	c.must(Request{Action: "save", Step: 1, Text: "new.yaml"})
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
	if len(s.Commands) != 1 || !slices.Equal(s.Commands[0].Lines, []string{"in " + strconv.Quote(dir), `"./score.sh"`}) {
		t.Fatalf("it asks for %q", s.Commands)
	}
	for told := ""; !strings.Contains(told, `"phase":"asking"`); time.Sleep(5 * time.Millisecond) { // the test's time bounds it
		c.session.hub.mu.Lock()
		told = string(c.session.hub.latestMessages["state"].data)
		c.session.hub.mu.Unlock()
	}
	c.get("/pair")
	c.get("/map")
	c.get("/leaves?change=" + `{"do":"ban","ingredient":"1"}`)
	time.Sleep(100 * time.Millisecond)
	if _, err := os.Stat(ran); err == nil {
		t.Fatal("the program has run unasked")
	}
	if status, _ := c.do(Request{Action: "allow", Text: strings.Repeat("0", 64)}); status == http.StatusOK {
		t.Error("what nobody asks for is allowed")
	}
	c.must(Request{Action: "allow", Text: s.Commands[0].Key})
	for range 200 {
		if _, err := os.Stat(ran); err == nil {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	if _, err := os.Stat(ran); err != nil {
		t.Error("the allowed program has not run")
	}
	c.must(Request{Action: "text", Step: 1, Text: strings.Replace(text, "[./score.sh]", "[./score.sh, -x]", 1)})
	c.until("asking again", func(s *State) bool { return s.Phase == "asking" })
}

// TestConsent: consent is to a whole command, however long, to its words one by one, and
// to the program's contents; and nothing runs before it, whatever the problem has read.
func TestConsent(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("HOME", dir)
	file, ran := filepath.Join(dir, "problem.yaml"), filepath.Join(dir, "ran")
	program := filepath.Join(dir, "score.sh")
	write := func(contents string) {
		t.Helper()
		if err := os.WriteFile(program, []byte(contents), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	const scores = "while read line; do echo '[]'; done\n"
	write(scores)
	// A kernel that looks at all compositions of a small problem when it is read.
	problemOf := func(words ...string) string {
		return "ingredients: {count: 4}\ntotal: 10\nsparsity: {uniform: [1, 3]}\nsampler: {kernel: gibbs}\nproperties:\n  own: {program: {command: [" + strings.Join(words, ", ") + "]}}\n"
	}
	long := "'head -n 0; echo a script of more letters than fit a line of a terminal, and harmless to its end'"
	if err := os.WriteFile(file, []byte(problemOf("sh", "-c", long)), 0o666); err != nil {
		t.Fatal(err)
	}
	c := serving(t, file)
	asked := func(what string) PendingCommand {
		t.Helper()
		s := c.until(what, func(s *State) bool { return s.Phase == "asking" })
		if len(s.Commands) != 1 {
			t.Fatalf("%s: it asks for %q", what, s.Commands)
		}
		return s.Commands[0]
	}
	steer := func(words ...string) {
		t.Helper()
		c.must(Request{Action: "text", Step: 1, Text: problemOf(words...)})
	}
	first := asked("a long command")
	if want := strconv.Quote(strings.Trim(long, "'")); first.Lines[3] != want {
		t.Errorf("it shows %s, not %s", first.Lines[3], want)
	}
	c.must(Request{Action: "allow", Text: first.Key})
	read := func(s *State) bool { return s.Phase == "faulty" || s.Phase == "drawing" }
	c.until("allowed", read)
	steer("sh", "-c", strings.Replace(long, "harmless to its end", "touch "+ran, 1))
	asked("another tail")
	steer("sh", "score.sh", "a b")
	split := asked("two words")
	steer("sh", "score.sh", "a", "b")
	if asked("three words").Key == split.Key {
		t.Error("words are run together")
	}
	steer("sh", "score.sh")
	plain := asked("a script")
	c.must(Request{Action: "allow", Text: plain.Key})
	c.until("the script", read)
	write("touch " + ran + "\n" + scores)
	c.must(Request{Action: "text", Step: 1, Text: strings.Replace(problemOf("sh", "score.sh"), "total: 10", "total: 11", 1)})
	if changed := asked("another script"); changed.Key == plain.Key || !slices.Equal(changed.Lines, plain.Lines) {
		t.Errorf("it asks for %q", changed)
	}
	write(scores)
	c.must(Request{Action: "text", Step: 1, Text: strings.Replace(problemOf("sh", "score.sh"), "total: 10", "total: 12", 1)})
	c.until("the script as it was, of another problem", read)
	if _, err := os.Stat(ran); err == nil {
		t.Error("what nobody allowed has run")
	}

	// What is trusted is not asked for.
	text := []byte(problemOf("sh", "score.sh", "trusted"))
	commands, err := compile.ReadCommands(t.Context(), file, text)
	if err != nil || len(commands) != 1 {
		t.Fatal(commands, err)
	}
	if err := commands[0].Trust(); err != nil {
		t.Fatal(err)
	}
	c.must(Request{Action: "text", Step: 1, Text: string(text)})
	c.until("trusted", read)
}

// TestTwoProcesses: whoever comes second is told where the page is.
func TestTwoProcesses(t *testing.T) {
	file := smallCocktails(t)
	l, err := lockProblem(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.writeAddress("http://127.0.0.1:1234/"); err != nil {
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

// TestProof: every answer to the key has the proof, and none to who lacks the key.
func TestProof(t *testing.T) {
	g := newGuard(netip.MustParseAddrPort("127.0.0.1:80"), "http", nil)
	h := g.requireAdmission(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, path := range []string{"/", "/events", "/js/server.js", "/none"} {
		for key, want := range map[string]string{g.key: g.proof, "": "", g.proof: "", g.key + "A": ""} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Host = "127.0.0.1"
			r.Header.Set("Authorization", "Bearer "+key)
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Header().Get(proofHeader) != want || g.proof == g.key {
				t.Errorf("%s with the key %q: the proof is %q, want %q", path, key, w.Header().Get(proofHeader), want)
			}
		}
	}
}
