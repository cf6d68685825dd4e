package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A hub sends messages to every open page. A message replaces earlier messages of the same kind. A
// slow page therefore misses only outdated messages, and no sender waits for a page.
type hub struct {
	publishMutex sync.Mutex // locked while a state is read and stored as a message; must be taken before any other lock

	mu             sync.Mutex
	messageKinds   []string               // kinds of messages, in the order in which the first message of each kind was published
	latestMessages map[string]message     // maps the kind of a message to the latest message of the kind
	messageCount   int                    // number of messages published so far
	pageSignals    map[chan struct{}]bool // has one channel per open page; a value sent on the channel wakes the page's stream
	closed         bool                   // whether the streams of all pages must end
}

// A message has the latest state of one kind for the pages.
type message struct {
	version int    // number of the message; all messages of all kinds are counted from 1
	data    []byte // state, encoded as JSON
}

func newHub() *hub {
	return &hub{latestMessages: make(map[string]message), pageSignals: make(map[chan struct{}]bool)}
}

// publish sends the state that readState returns as a message of the given kind. It sends nothing
// if the bool that readState returns is false. Calls run one after another, so a later message
// always has a later state. If a caller changes the state and then calls publish, the pages are
// sure to receive the change.
func (h *hub) publish(kind string, readState func() (what any, there bool)) error {
	h.publishMutex.Lock()
	defer h.publishMutex.Unlock()
	what, there := readState()
	if !there {
		return nil
	}
	data, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("telling pages of %s: %w", kind, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.messageKinds, kind) {
		h.messageKinds = append(h.messageKinds, kind)
	}
	h.messageCount++
	h.latestMessages[kind] = message{h.messageCount, data}
	h.wakePages()
	return nil
}

// wakePages wakes the streams of all open pages. The caller must have locked mu.
func (h *hub) wakePages() {
	for page := range h.pageSignals {
		select {
		case page <- struct{}{}:
		default: // the page is awake already
		}
	}
}

// addPage adds a page and sends the new number of open pages to all pages. The returned channel
// wakes the page's stream.
func (h *hub) addPage() chan struct{} {
	page := make(chan struct{}, 1)
	h.mu.Lock()
	h.pageSignals[page] = true
	h.mu.Unlock()
	h.publishPageCount()
	return page
}

// removePage removes a page and sends the new number of pages to all pages.
func (h *hub) removePage(page chan struct{}) {
	h.mu.Lock()
	delete(h.pageSignals, page)
	h.mu.Unlock()
	h.publishPageCount()
}

// publishPageCount sends the number of open pages to all pages.
func (h *hub) publishPageCount() {
	_ = h.publish("pages", func() (any, bool) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.pageSignals), true
	})
}

// close ends the streams of all pages.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.wakePages()
}

// messagesSince returns the kinds and the data of all messages whose versions are greater than the
// given version. The result newestVersion is the version of the newest message.
func (h *hub) messagesSince(version int) (kinds []string, data [][]byte, newestVersion int, closed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	newestVersion = version
	for _, kind := range h.messageKinds {
		if m := h.latestMessages[kind]; m.version > version {
			kinds, data = append(kinds, kind), append(data, m.data)
			newestVersion = max(newestVersion, m.version)
		}
	}
	return kinds, data, newestVersion, h.closed
}

// keepAliveInterval is the time between messages that are sent only to keep a stream open.
const keepAliveInterval = 15 * time.Second

// ServeHTTP sends the messages to one page as a stream of server-sent events.
func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	page := h.addPage()
	defer h.removePage(page)
	version := 0
	ticker := time.NewTicker(keepAliveInterval)
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
