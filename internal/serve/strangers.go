package serve

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Strangers are connections on which nobody has shown the key yet. Anybody on the machine can
// open them, and each takes one of the files that the process may have open. So there are only
// a few: one more ends the one that is there longest.
type strangers struct {
	most int

	mu    sync.Mutex
	conns []net.Conn // in the order in which they came
}

// mostStrangers is how many connections may be unknown at once, where files are plenty: a
// browser opens up to six for a page.
const mostStrangers = 64

// newStrangers bounds unknown connections to a quarter of the files that may be open, so that
// the rest is for the pages that are known and for the work.
func newStrangers(files int) *strangers {
	return &strangers{most: max(min(mostStrangers, files/4), 2)}
}

// connState follows the connections of a server.
func (s *strangers) connState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.mu.Lock()
		s.conns = append(s.conns, c)
		var longest net.Conn
		if len(s.conns) > s.most {
			longest, s.conns = s.conns[0], s.conns[1:]
		}
		s.mu.Unlock()
		if longest != nil {
			// It belongs to nobody who is known; the server hears of it by itself.
			_ = longest.Close()
		}
	case http.StateClosed, http.StateHijacked:
		s.forget(c)
	}
}

func (s *strangers) forget(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, stranger := range s.conns {
		if stranger == c {
			s.conns = append(s.conns[:k], s.conns[k+1:]...)
			return
		}
	}
}

type connKey struct{}

func (s *strangers) connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, func() { s.forget(c) })
}

// markKnown says that the connection of a request is of somebody who has the key.
func markKnown(ctx context.Context) {
	if forget, ok := ctx.Value(connKey{}).(func()); ok {
		forget()
	}
}
