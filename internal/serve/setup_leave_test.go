package serve

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A lastWord is a body behind whose end something is done.
type lastWord struct {
	io.Reader
	then func()
}

func (l lastWord) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err == io.EOF {
		l.then()
	}
	return n, err
}

// TestBeginLeave: what a client asked that has left is not gone on with, leaves what was there
// before, and keeps nobody else out.
func TestBeginLeave(t *testing.T) {
	c := newBeginner(t, SetupOptions{})
	c.gives("bar.csv", messy)
	ctx, leave := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "POST", "/begin/table?of=recipes&name=other.csv", lastWord{strings.NewReader("recipe,Gin,Rum\na,1,2\n"), leave})
	r.Header.Set("Content-Type", "application/octet-stream")
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, r)
	if w.Code == http.StatusOK {
		t.Errorf("a client that has left is answered with %s", w.Body)
	}
	if v := c.sees("GET", "/begin/view", "", nil); len(v.Tables) != 1 || v.Tables[0].Name != "bar.csv" {
		t.Errorf("the table is another one: %+v", v.Tables)
	}
}

// TestBeginBusy: while a table is read, a client that waits for another one can leave, after
// which the next one is served.
func TestBeginBusy(t *testing.T) {
	c := newBeginner(t, SetupOptions{})
	ended := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.server.ServeHTTP(w, r)
		ended <- struct{}{}
	}))
	defer server.Close()
	post := func(ctx context.Context, then func()) (int, error) {
		r, err := http.NewRequestWithContext(ctx, "POST", server.URL+"/begin/table?of=recipes&name=bar.csv", lastWord{strings.NewReader(messy), then})
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/octet-stream")
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err
		}
		return w.StatusCode, w.Body.Close()
	}
	if err := c.server.setup.acquire(t.Context()); err != nil { // as what reads a table does
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	if status, err := post(ctx, func() { time.AfterFunc(50*time.Millisecond, leave) }); err == nil {
		t.Errorf("the client did not leave: %d", status)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		c.server.setup.release()
		t.Fatal("what a client that left has asked for does not end")
	}
	c.server.setup.release()
	if status, err := post(t.Context(), func() {}); err != nil || status != http.StatusOK {
		t.Errorf("the next table is answered with %d, %v", status, err)
	}
}
