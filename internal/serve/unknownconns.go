package serve

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// An unknownConns limits the number of connections that have not sent the key of a [guard] yet.
// Anybody on the machine can open a connection, and each connection needs one of the process's open
// files. A new connection beyond the limit closes the oldest.
type unknownConns struct {
	limit int // maximum number of connections

	mu    sync.Mutex
	conns []net.Conn // connections, the oldest first
}

// maxUnknownConns is the maximum number of connections without the key. The limit is lower if the
// process may open only a few files. A browser opens up to six connections for a page.
const maxUnknownConns = 64

// newUnknownConns returns an unknownConns whose limit is at most a quarter of the files that the
// process may open. The other files are for connections with the key and for other work.
func newUnknownConns(files int) *unknownConns {
	return &unknownConns{limit: max(min(maxUnknownConns, files/4), 2)}
}

// connState implements the ConnState hook of [http.Server]. It adds new connections and removes
// closed connections.
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
		s.remove(c)
	}
}

// remove removes a connection.
func (s *unknownConns) remove(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, conn := range s.conns {
		if conn == c {
			s.conns = append(s.conns[:k], s.conns[k+1:]...)
			return
		}
	}
}

// A connContextKey is the context key of the function that marks a connection as known.
type connContextKey struct{}

// connContext implements the ConnContext hook of [http.Server].
func (s *unknownConns) connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connContextKey{}, func() { s.remove(c) })
}

// markKnown records that the connection of a request has shown the key. The parameter ctx is the
// context of the request.
func markKnown(ctx context.Context) {
	if forget, ok := ctx.Value(connContextKey{}).(func()); ok {
		forget()
	}
}
