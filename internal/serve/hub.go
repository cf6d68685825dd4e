package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A hub tells every open page what there is to know. Of each kind of message only
// the last one counts: a page that is slow misses what is over, and nothing waits
// for it.
type hub struct {
	publishing sync.Mutex // held from a look to its message, and taken before any other lock

	mu     sync.Mutex
	kinds  []string // in the order of their first message
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

// publish sends a message of a kind: what look sees there is, unless there is nothing to
// tell. Looks and messages take turns, so versions rise with the time of the look. Who
// tells of a change after making it can therefore be sure that the last message has it,
// whoever else tells at the same time.
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
		default: // it is awake
		}
	}
}

// join adds a page and tells all how many there are.
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

// publishPageCount tells how many pages are open; an int can always be marshalled.
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

// messagesSince returns the messages that are newer than a version, and the newest
// version.
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

// beat is how often a stream shows that it is alive.
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
			// JSON has no line ends of its own.
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
