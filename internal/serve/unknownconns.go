package serve

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// unknownConns tracks the connections that have not shown the key yet. Anybody on the machine
// can open them, and each uses one of the process's open files. So their number is limited: a
// new one closes the oldest.
type unknownConns struct {
	limit int

	mu    sync.Mutex
	conns []net.Conn // the oldest first
}

// maxUnknownConns is the greatest number of unknown connections, if the process may open many
// files. A browser opens up to six for a page.
const maxUnknownConns = 64

// newUnknownConns limits unknown connections to a quarter of the files that the process may
// open. The rest is for known pages and other work.
func newUnknownConns(files int) *unknownConns {
	return &unknownConns{limit: max(min(maxUnknownConns, files/4), 2)}
}

// connState follows the state changes of a server's connections.
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
			// Ignore the error: the connection has shown no key, and the server notices the
			// close by itself.
			_ = longest.Close()
		}
	case http.StateClosed, http.StateHijacked:
		s.forget(c)
	}
}

func (s *unknownConns) forget(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, conn := range s.conns {
		if conn == c {
			s.conns = append(s.conns[:k], s.conns[k+1:]...)
			return
		}
	}
}

type connKey struct{}

func (s *unknownConns) connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, func() { s.forget(c) })
}

// markKnown marks the connection of a request as one that has shown the key.
func markKnown(ctx context.Context) {
	if forget, ok := ctx.Value(connKey{}).(func()); ok {
		forget()
	}
}
