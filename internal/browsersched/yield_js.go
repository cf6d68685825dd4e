// Package browsersched lets a web page be served during long work in a browser. A program in a
// browser has only one thread, so the page must otherwise wait until all goroutines are blocked.
package browsersched

import (
	"context"
	"sync"
	"syscall/js"
	"time"
)

// yieldInterval is the time after which long work yields the thread to the page.
const yieldInterval = 30 * time.Millisecond

// Err returns ctx.Err(). If the last yield was longer than yieldInterval ago, Err first yields to
// the page. Long work calls Err instead of ctx.Err().
func Err(ctx context.Context) error {
	sharedLoop().yieldToPage()
	return ctx.Err()
}

// An eventLoop yields the program's only thread to the event loop of JavaScript. To yield, it posts
// a message to itself and waits for the message. The message arrives after all events that were
// waiting before.
type eventLoop struct {
	sendPort     js.Value // port to which messages are posted
	receivePort  js.Value // port at which the messages arrive
	canKeepAlive bool     // whether a listening port keeps the process alive, as under Node
	mu           sync.Mutex
	lastYield    time.Time       // time of the last yield
	waitingCalls []chan struct{} // one channel per waiting call of yieldToPage; closed when the message arrives
}

// sharedLoop returns the event loop that all callers share.
var sharedLoop = sync.OnceValue(func() *eventLoop {
	channel := js.Global().Get("MessageChannel").New()
	l := &eventLoop{sendPort: channel.Get("port2"), receivePort: channel.Get("port1"), lastYield: time.Now()}
	l.canKeepAlive = l.receivePort.Get("unref").Type() == js.TypeFunction
	l.receivePort.Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.keepAlive(false)
		l.lastYield = time.Now()
		for _, w := range l.waitingCalls {
			close(w)
		}
		l.waitingCalls = nil
		return nil
	}))
	l.keepAlive(false)
	return l
})

// yieldToPage blocks until all waiting events have been handled. It returns at once if the last
// yield was less than yieldInterval ago.
func (l *eventLoop) yieldToPage() {
	l.mu.Lock()
	if time.Since(l.lastYield) < yieldInterval {
		l.mu.Unlock()
		return
	}
	w := make(chan struct{})
	if l.waitingCalls = append(l.waitingCalls, w); len(l.waitingCalls) == 1 {
		l.keepAlive(true)
		l.sendPort.Call("postMessage", js.Null())
	}
	l.mu.Unlock()
	<-w
}

// keepAlive sets whether the receiving port keeps the process alive. The port must do so while a
// message is expected.
func (l *eventLoop) keepAlive(on bool) {
	switch {
	case !l.canKeepAlive:
	case on:
		l.receivePort.Call("ref")
	default:
		l.receivePort.Call("unref")
	}
}
