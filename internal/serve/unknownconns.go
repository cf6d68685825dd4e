package serve

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// An unauthenticatedConns limits the number of connections that have not sent the key of the
// [guard] yet. Anybody on the machine can open a connection, and each connection needs one of the
// files that the process may open. When there are too many connections, the oldest is closed.
type unauthenticatedConns struct {
	limit int // maximum number of connections

	mu    sync.Mutex
	conns []net.Conn // connections without the key, the oldest first
}

// maxUnauthenticatedConns is the maximum number of connections without the key. If the process may open
// only a few files, the limit is lower. A browser opens up to six connections for one page.
const maxUnauthenticatedConns = 64

// newUnauthenticatedConns returns an unauthenticatedConns for a process that may open maxFiles
// files. The limit is at most a quarter of these files. The other files are for connections with
// the key and for other work.
func newUnauthenticatedConns(maxFiles int) *unauthenticatedConns {
	return &unauthenticatedConns{limit: max(min(maxUnauthenticatedConns, maxFiles/4), 2)}
}

// connState implements the ConnState hook of [http.Server]. It adds new connections and removes
// closed connections.
func (s *unauthenticatedConns) connState(c net.Conn, state http.ConnState) {
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

// remove removes a connection from the list, because it was closed or has sent the key.
func (s *unauthenticatedConns) remove(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, conn := range s.conns {
		if conn == c {
			s.conns = append(s.conns[:k], s.conns[k+1:]...)
			return
		}
	}
}

// A connContextKey is the key of a context value: the function that removes the connection of a
// request from the list of connections without the key.
type connContextKey struct{}

// connContext implements the ConnContext hook of [http.Server].
func (s *unauthenticatedConns) connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connContextKey{}, func() { s.remove(c) })
}

// markAuthenticated records that the connection of a request has sent the key. The parameter ctx is the
// context of the request.
func markAuthenticated(ctx context.Context) {
	if forget, ok := ctx.Value(connContextKey{}).(func()); ok {
		forget()
	}
}
