// Package browsersched lets a web page respond while long work runs in a browser. A program in a
// browser has only one thread. Without this package the page would have to wait until all
// goroutines are blocked.
package browsersched

import (
	"context"
	"sync"
	"syscall/js"
	"time"
)

// yieldInterval is the minimum time between two yields of the thread to the page.
const yieldInterval = 30 * time.Millisecond

// Err returns ctx.Err(). If the last yield was more than yieldInterval ago, Err first lets the page
// handle its waiting events. Long work calls Err often, instead of ctx.Err().
func Err(ctx context.Context) error {
	sharedLoop().yieldToPage()
	return ctx.Err()
}

// An eventLoop yields the program's only thread to the event loop of JavaScript. To yield, the
// program posts a message to itself and waits for the message. All events that were waiting before
// are handled first.
type eventLoop struct {
	sendPort     js.Value // port to which messages are posted
	receivePort  js.Value // port at which the messages arrive
	canKeepAlive bool     // whether the receiving port can keep the process alive, as under Node
	mu           sync.Mutex
	lastYield    time.Time       // time of the last yield
	waitingCalls []chan struct{} // has one channel for each waiting call of yieldToPage; all channels are closed when the message arrives
}

// sharedLoop returns the event loop of the program, which all callers share.
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

// keepAlive sets whether the receiving port keeps the process alive. This is necessary while a
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
