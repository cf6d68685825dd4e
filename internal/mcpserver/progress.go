package mcpserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// progressInterval is the least time between two notifications of the same work.
	progressInterval = 500 * time.Millisecond
	// reminderInterval is the time after which the client hears that work goes on. Many clients give up after a
	// minute without news.
	reminderInterval = 10 * time.Second
)

// A progress tells a client how far a call is, if the client wants to know.
type progress struct {
	ctx     context.Context
	session *mcp.ServerSession
	token   any
	began   time.Time
	ended   chan struct{}

	mu     sync.Mutex
	what   string    // what the call does
	last   time.Time // time of the last notification
	done   float64   // last number that was sent; numbers must grow
	isPart bool      // whether the number is a fraction of the work
}

// newProgress returns the progress of a call. Its method end must be called.
func newProgress(ctx context.Context, request *mcp.CallToolRequest) *progress {
	p := &progress{ctx: ctx, session: request.Session, token: request.Params.GetProgressToken(), began: time.Now(), ended: make(chan struct{})}
	if p.token == nil {
		return p
	}
	go func() {
		ticks := time.NewTicker(reminderInterval)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				p.remind()
			case <-p.ended:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return p
}

// end ends the notifications.
func (p *progress) end() { close(p.ended) }

// observe tells the client what the call does. The fraction done is 0 while it is unknown.
func (p *progress) observe(what string, done float64) {
	if p.token == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if done > 0 {
		p.isPart = true
		if time.Since(p.last) < progressInterval {
			return
		}
	} else if what == p.what {
		return
	}
	p.what = what
	p.notify(what, done)
}

// remind tells the client that the work goes on, unless it has just heard so.
func (p *progress) remind() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.what != "" && time.Since(p.last) >= reminderInterval {
		p.notify(fmt.Sprintf("%s (after %s)", p.what, time.Since(p.began).Round(time.Second)), 0)
	}
}

// notify sends a notification. The caller has locked p.mu.
func (p *progress) notify(message string, done float64) {
	const least = 1e-4 // by which a number grows whose fraction is unknown
	p.done = max(done, p.done+float64(least*(1-p.done)))
	n := &mcp.ProgressNotificationParams{ProgressToken: p.token, Message: message, Progress: p.done}
	if p.isPart {
		n.Total = 1
	}
	p.last = time.Now()
	_ = p.session.NotifyProgress(p.ctx, n) // a client that has gone away ends the call by other means
}
