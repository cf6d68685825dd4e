package serve

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestServePrograms: only requests with the key, the name of this machine, and no other site as origin reach the handler.
func TestServePrograms(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan [2]string, 1), make(chan error, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") })
	go func() {
		ended <- ServePrograms(ctx, "127.0.0.1:0", "/tools", handler, func(url, key string) { ready <- [2]string{url, key} })
	}()
	var url, key string
	select {
	case at := <-ready:
		url, key = at[0], at[1]
	case err := <-ended:
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, url, host string
		header          map[string]string
		status          int
	}{
		{"right", url, "", map[string]string{"Authorization": "Bearer " + key}, http.StatusOK},
		{"by another name of this machine", url, "localhost:1", map[string]string{"Authorization": "Bearer " + key}, http.StatusOK},
		{"no key", url, "", nil, http.StatusUnauthorized},
		{"another key", url, "", map[string]string{"Authorization": "Bearer " + strings.ToLower(key)}, http.StatusUnauthorized},
		{"the key in a cookie", url, "", map[string]string{"Cookie": "key=" + key}, http.StatusUnauthorized},
		{"the key in the address", url + "?key=" + key, "", nil, http.StatusUnauthorized},
		{"a rebound name", url, "evil.example", map[string]string{"Authorization": "Bearer " + key}, http.StatusMisdirectedRequest},
		{"another site", url, "", map[string]string{"Authorization": "Bearer " + key, "Origin": "https://evil.example"}, http.StatusForbidden},
		{"another site of a browser", url, "", map[string]string{"Authorization": "Bearer " + key, "Sec-Fetch-Site": "cross-site"}, http.StatusForbidden},
		{"another path", strings.TrimSuffix(url, "tools"), "", map[string]string{"Authorization": "Bearer " + key}, http.StatusNotFound},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if c.host != "" {
			r.Host = c.host
		}
		for name, value := range c.header {
			r.Header.Set(name, value)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != c.status || (string(body) == "reached") != (c.status == http.StatusOK) {
			t.Errorf("%s: %s %q %v, not %d", c.name, response.Status, body, err, c.status)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it does not end")
	}
}

// TestLoopbackOnly: programs are served at no address that another machine reaches.
func TestLoopbackOnly(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:0": true, "127.8.9.1:80": true, "[::1]:0": true, "localhost:0": true, "[::ffff:127.0.0.1]:0": true,
		"0.0.0.0:0": false, ":0": false, "[::]:0": false, "192.168.1.5:80": false, "example.com:80": false, "127.0.0.1": false, "": false, "localhost.evil.example:1": false,
	} {
		if err := checkLoopback(address); (err == nil) != want {
			t.Errorf("%q: %v", address, err)
		}
	}
}
