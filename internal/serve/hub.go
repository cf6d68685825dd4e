package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A hub sends messages to every open page. Of each kind of message only the latest counts. A
// slow page misses outdated messages, and no sender waits for it.
type hub struct {
	publishing sync.Mutex // held from reading the state until its message is stored; taken before any other lock

	mu     sync.Mutex
	kinds  []string // in the order of their first messages
	latest map[string]message
	count  int
	pages  map[chan struct{}]bool
	closed bool
}

type message struct {
	version int
	data    []byte
}

func newHub() *hub {
	return &hub{latest: make(map[string]message), pages: make(map[chan struct{}]bool)}
}

// publish sends the state that look returns as a message of a kind, unless look reports that
// there is none. Calls take turns, so a later version always has a later state. A caller that
// publishes after a change can rely on the last message to include the change, even with
// concurrent calls.
func (h *hub) publish(kind string, look func() (what any, there bool)) error {
	h.publishing.Lock()
	defer h.publishing.Unlock()
	what, there := look()
	if !there {
		return nil
	}
	data, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("telling pages of %s: %w", kind, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.kinds, kind) {
		h.kinds = append(h.kinds, kind)
	}
	h.count++
	h.latest[kind] = message{h.count, data}
	h.wake()
	return nil
}

func (h *hub) wake() {
	for page := range h.pages {
		select {
		case page <- struct{}{}:
		default: // the page is awake already
		}
	}
}

// join adds a page and sends the number of pages to all.
func (h *hub) join() chan struct{} {
	page := make(chan struct{}, 1)
	h.mu.Lock()
	h.pages[page] = true
	h.mu.Unlock()
	h.publishPageCount()
	return page
}

func (h *hub) leave(page chan struct{}) {
	h.mu.Lock()
	delete(h.pages, page)
	h.mu.Unlock()
	h.publishPageCount()
}

// publishPageCount sends the number of open pages. It ignores the error, since an int can
// always be marshalled.
func (h *hub) publishPageCount() {
	_ = h.publish("pages", func() (any, bool) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.pages), true
	})
}

// close ends all streams.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.wake()
}

// messagesSince returns the messages after a version, and the latest version.
func (h *hub) messagesSince(version int) (kinds []string, data [][]byte, newest int, closed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	newest = version
	for _, kind := range h.kinds {
		if m := h.latest[kind]; m.version > version {
			kinds, data = append(kinds, kind), append(data, m.data)
			newest = max(newest, m.version)
		}
	}
	return kinds, data, newest, h.closed
}

// beat is the interval of the messages that keep a stream alive.
const beat = 15 * time.Second

// ServeHTTP streams messages as server-sent events.
func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	page := h.join()
	defer h.leave(page)
	version := 0
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		kinds, data, newest, closed := h.messagesSince(version)
		version = newest
		for k := range kinds {
			// The JSON has no line breaks.
			if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kinds[k], data[k]); err != nil {
				return // the page is gone
			}
		}
		if closed {
			fmt.Fprint(w, "event: end\ndata: 0\n\n")
		}
		if out.Flush() != nil || closed {
			return
		}
		select {
		case <-page:
		case <-ticker.C:
			if _, err := fmt.Fprint(w, ": here\n\n"); err != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
