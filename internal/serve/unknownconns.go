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
type unknownConns struct {
	limit int

	mu    sync.Mutex
	conns []net.Conn // in the order in which they came
}

// maxUnknownConns is how many connections may be unknown at once, where files are plenty: a
// browser opens up to six for a page.
const maxUnknownConns = 64

// newUnknownConns bounds unknown connections to a quarter of the files that may be open, so that
// the rest is for the pages that are known and for the work.
func newUnknownConns(files int) *unknownConns {
	return &unknownConns{limit: max(min(maxUnknownConns, files/4), 2)}
}

// connState follows the connections of a server.
func (s *unknownConns) connState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.mu.Lock()
		s.conns = append(s.conns, c)
		var longest net.Conn
		if len(s.conns) > s.limit {
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

func (s *unknownConns) forget(c net.Conn) {
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

func (s *unknownConns) connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, func() { s.forget(c) })
}

// markKnown says that the connection of a request is of somebody who has the key.
func markKnown(ctx context.Context) {
	if forget, ok := ctx.Value(connKey{}).(func()); ok {
		forget()
	}
}
