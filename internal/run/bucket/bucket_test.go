package bucket

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kir/internal/run"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// fakeS3 is as much of an S3 server as a store asks for, in memory. It says what it
// was asked to a function that may make it fail.
type fakeS3 struct {
	mu      sync.Mutex
	objects map[string]object
	fault   func(r *http.Request) fault
}

type object struct {
	data   []byte
	writer string
}

// fault is how a request fails.
type fault int

const (
	none    fault = iota
	refused       // 403, which is not tried again
	busy          // 503, which is
	lost          // done, and the answer is lost
)

func newFakeS3(t testing.TB) (*fakeS3, string) {
	t.Helper()
	s := &fakeS3{objects: make(map[string]object), fault: func(*http.Request) fault { return none }}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return s, "?endpoint=" + server.URL + "&region=here"
}

func (s *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	how := s.fault(r)
	s.mu.Unlock()
	switch how {
	case refused:
		w.WriteHeader(http.StatusForbidden)
		return
	case busy:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case lost:
		s.answer(httptest.NewRecorder(), r, data)
		panic(http.ErrAbortHandler)
	}
	s.answer(w, r, data)
}

func (s *fakeS3) answer(w http.ResponseWriter, r *http.Request, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.TrimPrefix(r.URL.Path, "/bucket/")
	o, there := s.objects[key]
	fail := func(status int, code string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
	}
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Get("list-type") == "2":
		s.list(w, r.URL.Query().Get("prefix"))
	case r.Method == http.MethodPut:
		if r.Header.Get("If-None-Match") == "*" && there {
			fail(http.StatusPreconditionFailed, "PreconditionFailed")
			return
		}
		if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING") {
			data = unchunked(data)
		}
		s.objects[key] = object{data, r.Header.Get("X-Amz-Meta-Kir-Writer")}
		w.Header().Set("ETag", `"1"`)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !there:
		fail(http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("X-Amz-Meta-Kir-Writer", o.writer)
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(o.data))
	}
}

func (s *fakeS3) list(w io.Writer, prefix string) {
	type content struct {
		Key  string
		Size int
	}
	var result struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []content
	}
	for key, o := range s.objects {
		if strings.HasPrefix(key, prefix) {
			result.Contents = append(result.Contents, content{key, len(o.data)})
		}
	}
	slices.SortFunc(result.Contents, func(a, b content) int { return strings.Compare(a.Key, b.Key) })
	_ = xml.NewEncoder(w).Encode(result)
}

// unchunked takes the signatures of chunks out of a body.
func unchunked(body []byte) []byte {
	var data []byte
	for r := bufio.NewReader(bytes.NewReader(body)); ; {
		line, err := r.ReadString('\n')
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, bad := strconv.ParseInt(size, 16, 64)
		if err != nil || bad != nil || n == 0 {
			return data
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(r, chunk); err != nil {
			return data
		}
		data = append(data, chunk[:n]...)
	}
}

func open(t testing.TB, location string) run.Store {
	t.Helper()
	s, err := Open(location)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Both stores keep the same promises.
func TestStores(t *testing.T) {
	_, query := newFakeS3(t)
	for _, s := range []run.Store{run.NewDirectoryStore(t.TempDir()), open(t, "s3://bucket"+query), open(t, "s3://bucket/some/run"+query)} {
		location := s.Location()
		ctx := t.Context()
		if files, err := s.List(ctx, ""); err != nil || len(files) > 0 {
			t.Errorf("%s: at first there are %v, %v", location, files, err)
		}
		if _, err := s.Read(ctx, "draws/a", 0, -1); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: reading what is not there: %v", location, err)
		}
		if err := s.Create(ctx, "draws/a", []byte("0123456789")); err != nil {
			t.Fatal(err)
		}
		if err := s.Create(ctx, "draws/a", []byte("other")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: creating what is there: %v", location, err)
		}
		for _, c := range []struct {
			offset, length int64
			want           string
		}{{0, -1, "0123456789"}, {3, 4, "3456"}, {6, -1, "6789"}, {0, 2, "01"}, {4, 0, ""}, {8, 10, "89"}} {
			if got, err := s.Read(ctx, "draws/a", c.offset, c.length); err != nil || string(got) != c.want {
				t.Errorf("%s: %d bytes from %d are %q, %v", location, c.length, c.offset, got, err)
			}
		}
		for _, text := range []string{"one", "another"} {
			if err := s.Replace(ctx, "state/b", []byte(text)); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Read(ctx, "state/b", 0, -1); err != nil || string(got) != text {
				t.Errorf("%s: %q, %v", location, got, err)
			}
		}
		if files, err := s.List(ctx, ""); err != nil || !slices.Equal(files, []run.File{{Name: "draws/a", Size: 10}, {Name: "state/b", Size: 7}}) {
			t.Errorf("%s: there are %v, %v", location, files, err)
		}
		if files, err := s.List(ctx, "state/"); err != nil || len(files) != 1 {
			t.Errorf("%s: there are %v, %v", location, files, err)
		}
		for range 2 {
			if err := s.Remove(ctx, "state/b"); err != nil {
				t.Error(err)
			}
		}
		if files, err := s.List(ctx, ""); err != nil || len(files) != 1 {
			t.Errorf("%s: left are %v, %v", location, files, err)
		}
	}
}

// What is put is put at once, however large: parts of an object are no one's to see, and
// a condition on the last of them would come too late.
func TestPutsAtOnce(t *testing.T) {
	server, query := newFakeS3(t)
	var asked []string
	server.fault = func(r *http.Request) fault {
		asked = append(asked, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery+" "+r.Header.Get("If-None-Match"))
		return none
	}
	store, data := open(t, "s3://bucket/run"+query), make([]byte, 17<<20)
	if err := store.Create(t.Context(), "a", data); err != nil {
		t.Fatal(err)
	}
	if err := store.Replace(t.Context(), "b", data); err != nil {
		t.Fatal(err)
	}
	if want := []string{"PUT /bucket/run/a? *", "PUT /bucket/run/b? "}; !slices.Equal(asked, want) {
		t.Errorf("it was asked for %q", asked)
	}
}

// TestFailures: what fails is told with the object and what was done, and who asks for
// what is not there, or creates what is, is told in the words of a file.
func TestFailures(t *testing.T) {
	server, query := newFakeS3(t)
	store := open(t, "s3://bucket/run"+query)
	ctx := t.Context()
	if err := store.Create(ctx, "a", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		do   func() error
		want string
		is   error
	}{
		"create":  {func() error { return store.Create(ctx, "a", nil) }, "create s3://bucket/run/a: file already exists", fs.ErrExist},
		"read":    {func() error { _, err := store.Read(ctx, "b", 0, -1); return err }, "read s3://bucket/run/b: file does not exist", fs.ErrNotExist},
		"a range": {func() error { _, err := store.Read(ctx, "b", 2, 3); return err }, "read s3://bucket/run/b: file does not exist", fs.ErrNotExist},
	} {
		if err := c.do(); !errors.Is(err, c.is) || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	server.fault = func(*http.Request) fault { return refused }
	for name, do := range map[string]func() error{
		"create": func() error { return store.Create(ctx, "c", nil) }, "write": func() error { return store.Replace(ctx, "c", nil) },
		"read": func() error { _, err := store.Read(ctx, "c", 0, -1); return err }, "list": func() error { _, err := store.List(ctx, "c"); return err },
		"remove": func() error { return store.Remove(ctx, "c") },
	} {
		var of *fs.PathError
		if err := do(); !errors.As(err, &of) || of.Op != name || of.Path != "s3://bucket/run/c" || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, err := store.Read(ctx, "a", 3, 0); err != nil || len(data) != 0 {
		t.Errorf("nothing of an object is %q, %v", data, err)
	}
}

func TestLocations(t *testing.T) {
	for _, location := range []string{
		"s3://", "s3:///run", "s3://key:secret@bucket/run", "s3://bucket/run?endpoint=host", "s3://bucket/run?endpoint=ftp://host",
		"s3://bucket/run?endpoint=http://host/path", "s3://bucket/run?key=1", "s3://bucket/run?region=a&region=b", "s3://bucket/run#x", "s3://bucket/%zz",
	} {
		var bad *LocationError
		if _, err := Open(location); !errors.As(err, &bad) {
			t.Errorf("%s: %v", location, err)
		}
	}
	for location, want := range map[string]string{
		"s3://bucket": "s3://bucket/run.json", "s3://bucket/": "s3://bucket/run.json", "s3://bucket/a/b/?region=here": "s3://bucket/a/b/run.json", "s3://bucket/a?endpoint=https://host/": "s3://bucket/a/run.json",
	} {
		if s := open(t, location); s.Path("run.json") != want || s.Location() != location || !IsBucket(location) {
			t.Errorf("%s is at %s", location, s.Path("run.json"))
		}
	}
	if IsBucket("runs/s3") || IsBucket("s3:/x") {
		t.Error("a directory is a bucket")
	}
	if at := open(t, "s3://bucket/run?endpoint=http://host").Path("run.json"); at != "s3://bucket/run/run.json" {
		t.Error(at)
	}
}

// newSpec returns a small problem whose property calls a function each time.
func newSpec(t testing.TB, at func()) *run.Spec {
	t.Helper()
	space, err := mcmc.NewSpace(12, 20)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 5), mcmc.Objective{Name: "fruit", Weight: 1, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		at()
		return float64(1+x.Amount(1)+x.Amount(4)) / 21
	})})
	if err != nil {
		t.Fatal(err)
	}
	s := &run.Spec{Name: "test", Target: target, Settings: mcmc.Settings{Kernel: "accelerated", Chains: 3, Warmup: 2500, Draws: 1300, Thin: 2, Seed: 11}}
	for i := range 12 {
		s.Ingredients = append(s.Ingredients, fmt.Sprintf("ingredient %d", i+1))
	}
	return s
}

// drawsOf returns the draws of a run, as text.
func drawsOf(t testing.TB, s run.Store) string {
	t.Helper()
	r, err := run.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for d, err := range r.Draws(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, *d)
	}
	return b.String()
}

// Shards in a bucket whose server is busy, loses answers and refuses writes end as
// one process in a directory does.
func TestFaults(t *testing.T) {
	s := newSpec(t, func() {})
	whole := run.NewDirectoryStore(filepath.Join(t.TempDir(), "run"))
	want, err := run.Start(t.Context(), s, whole, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server, query := newFakeS3(t)
	store := open(t, "s3://bucket/run"+query)
	var asked, stopped atomic.Int64
	server.fault = func(r *http.Request) fault {
		n := asked.Add(1)
		switch {
		case r.Method == http.MethodPut && n%7 == 0:
			return lost
		case n%11 == 0:
			return busy
		case r.Method == http.MethodPut && n%13 == 0:
			return refused
		}
		return none
	}
	for k := range 3 {
		for {
			_, err := run.RunShard(t.Context(), s, store, run.Options{Workers: 1, Interval: time.Nanosecond, Shard: run.Shard{Index: k + 1, Count: 3}})
			if err == nil {
				break
			}
			var storage *run.StorageError
			if !errors.As(err, &storage) || !strings.Contains(err.Error(), "s3://bucket/run/") {
				t.Fatal(err)
			}
			stopped.Add(1)
		}
	}
	server.fault = func(r *http.Request) fault { return refused }
	if err := store.Replace(t.Context(), "summary.json", []byte("{}")); err == nil || !strings.Contains(err.Error(), "s3://bucket/run/summary.json") {
		t.Errorf("what must not be replaced: %v", err)
	}
	server.fault = func(*http.Request) fault { return none }
	if stopped.Load() == 0 {
		t.Error("the test needs refused writes")
	}
	same(t, s, store, whole, want)
}

// same compares a run in a bucket with one in a directory, draws and statistics.
func same(t testing.TB, s *run.Spec, store, whole run.Store, want *run.Result) {
	t.Helper()
	got, err := run.Merge(t.Context(), s, store, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if drawsOf(t, store) != drawsOf(t, whole) {
		t.Error("the draws differ")
	}
	for _, of := range []func(r *run.Result) any{
		func(r *run.Result) any { return r.IngredientCount },
		func(r *run.Result) any { return *r.Score },
		func(r *run.Result) any { return r.Inclusion },
		func(r *run.Result) any { return r.Best },
	} {
		// As text: what is not a number is the same.
		if got, want := fmt.Sprintf("%+v", of(got)), fmt.Sprintf("%+v", of(want)); got != want {
			t.Errorf("the results differ:\n%s\n%s", got, want)
		}
	}
}

// In a bucket, too, the second of two processes on one chain is told.
func TestTwoWriters(t *testing.T) {
	s := newSpec(t, func() {})
	_, query := newFakeS3(t)
	location := "s3://bucket/run" + query
	all := run.Options{Workers: 1, Shard: run.Shard{Index: 1, Count: 1}}
	scored, met := 0, false
	slow := newSpec(t, func() {
		if scored++; scored == 30_000 {
			met = true
			if _, err := run.RunShard(t.Context(), s, open(t, location), all); err != nil {
				t.Error(err)
			}
		}
	})
	if _, err := run.RunShard(t.Context(), slow, open(t, location), all); !met || !errors.As(err, new(*run.BusyError)) {
		t.Errorf("%d scores, met %t: the second ended with %v", scored, met, err)
	}
}

// TestEndlessList: a list that goes on for ever is given up, whichever way it does, and one that was
// asked for in vain is no list.
func TestEndlessList(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	const begin, more, end = `<ListBucketResult>`, `<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>`, `</ListBucketResult>`
	object := func(k int) string { return fmt.Sprintf("<Contents><Key>run/%d</Key><Size>1</Size></Contents>", k) }
	pages := 0
	var asked atomic.Int64
	for name, answer := range map[string]func(w io.Writer) error{
		"the same page": func(w io.Writer) error { _, err := fmt.Fprint(w, begin, object(0), object(1), more, end); return err },
		"empty pages":   func(w io.Writer) error { _, err := fmt.Fprint(w, begin, more, end); return err },
		"new pages": func(w io.Writer) error {
			pages++
			_, err := fmt.Fprint(w, begin, object(pages), more, end)
			return err
		},
		"a page without an end": func(w io.Writer) error {
			_, err := fmt.Fprint(w, begin)
			for k := 0; err == nil; k++ {
				_, err = fmt.Fprint(w, object(k))
			}
			return err
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); _ = answer(w) }))
		s := open(t, "s3://bucket/run?endpoint="+server.URL+"&region=here").(*bucketStore)
		if !testmode.Enabled() {
			s.maxPages, s.maxPageBytes = 100, 1<<18
		}
		asked.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		files, err := s.List(ctx, "")
		if files != nil || !errors.Is(err, errEndlessListing) {
			t.Errorf("%s: %d files, %v", name, len(files), err)
		}
		if want := map[string]int{"the same page": 2, "empty pages": s.maxPages, "new pages": s.maxPages, "a page without an end": 1}[name]; int(asked.Load()) != want {
			t.Errorf("%s: given up after %d pages, want %d", name, asked.Load(), want)
		}
		cancel()
		server.CloseClientConnections()
		server.Close()
	}
	_, query := newFakeS3(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if files, err := open(t, "s3://bucket"+query).List(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("once its context has ended a list is %v, %v", files, err)
	}
}
