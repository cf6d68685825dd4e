//go:build unix

package serve

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/internal/run"
)

// TestStrangers: idle connections of somebody without the key, more than files may be open, do not
// keep the page from who has the address.
func TestStrangers(t *testing.T) {
	if file := os.Getenv("KIR_TEST_STRANGERS"); file != "" {
		serveWithFewFiles(t, file)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestStrangers$")
	child.Env = append(os.Environ(), "KIR_TEST_STRANGERS="+smallCocktails(t))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait() // it was killed
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	for range 100 {
		conn, err := net.DialTimeout("tcp", host, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	began := time.Now()
	page := opened(t, address)
	page.Timeout = 5 * time.Second
	for range 3 {
		response, err := page.Get("http://" + host + "/text?step=1")
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode != http.StatusOK {
			t.Errorf("the page gets %s", response.Status)
		}
	}
	t.Logf("the page was answered after %v", time.Since(began))
	// Whoever is known stays, whatever comes then.
	events, err := (&http.Client{Transport: page.Transport}).Get("http://" + host + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	stream := bufio.NewReader(events.Body)
	if _, err := stream.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		conn, err := net.DialTimeout("tcp", host, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	response, err := page.Post("http://"+host+"/do", "application/json", strings.NewReader(`{"do":"name","step":1,"text":"still here"}`))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	for !strings.Contains(func() string { line, _ := stream.ReadString('\n'); return line }(), "still here") {
		if ctx.Err() != nil {
			t.Fatal("the stream of a page that is known has ended")
		}
	}
}

// serveWithFewFiles serves a problem where 64 files may be open, and prints the address.
func serveWithFewFiles(t *testing.T, file string) {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64}); err != nil {
		t.Fatal(err)
	}
	err := Serve(t.Context(), Options{File: file, Address: "127.0.0.1:0", OnReady: func(address, _ string) { fmt.Println(address) },
		Run: func(ctx context.Context, _ *compile.Problem, _ string, _ func(run.Progress)) (*report.Model, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
	t.Fatal(err)
}

// TestTLS: with a certificate the page is served by TLS alone, and what is no pair is refused with
// what to give.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	key2, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key2.PublicKey, key2)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key2)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := smallCocktails(t)
	for _, bad := range []struct{ cert, key, want string }{
		{cert, "", "give the file of the key with --tls-key"},
		{"", key, "give the file of the certificate with --tls-cert"},
		{key, cert, "both are PEM files"},
		{cert, file, "both are PEM files"},
		{filepath.Join(dir, "none.pem"), key, "no such file"},
	} {
		err := Serve(t.Context(), Options{File: file, Address: "127.0.0.1:0", TLSCert: bad.cert, TLSKey: bad.key})
		if err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%q with %q: %v", bad.cert, bad.key, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	begun, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, Options{File: file, Address: "127.0.0.1:0", TLSCert: cert, TLSKey: key, OnReady: func(address, _ string) { begun <- address },
			Run: func(ctx context.Context, _ *compile.Problem, _ string, _ func(run.Progress)) (*report.Model, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}})
	}()
	address := <-begun
	root, _, _ := strings.Cut(address, "#")
	if !strings.HasPrefix(root, "https://127.0.0.1:") {
		t.Errorf("the address is %s", address)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(parsed)
	for version, works := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: version, MaxVersion: version}}}
		response, err := client.Get(root)
		if works != (err == nil && response.StatusCode == http.StatusOK) {
			t.Errorf("by TLS %x: %v", version, err)
		}
		if err == nil {
			response.Body.Close()
		}
	}
	if response, err := http.Get("http" + strings.TrimPrefix(root, "https")); err == nil {
		if response.Body.Close(); response.StatusCode == http.StatusOK {
			t.Error("the page is served without TLS, too")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestInTheClear: what leaves the machine without TLS is said to.
func TestInTheClear(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1:0": false, "[::1]:80": false, "localhost:80": false, "127.3.2.1:80": false, "0.0.0.0:80": true, ":80": true, "[::]:80": true, "192.168.1.5:80": true, "studio.lan:80": true} {
		if got := (&Options{Address: address}).IsUnencrypted(); got != want {
			t.Errorf("%s: %v", address, got)
		}
		if (&Options{Address: address, TLSCert: "cert.pem"}).IsUnencrypted() {
			t.Errorf("%s with TLS is in the clear", address)
		}
	}
}
