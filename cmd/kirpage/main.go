//go:build js

// Command kirpage is the program behind the page of kir on a static web site, where kir serve has no server. It
// is compiled to WebAssembly and runs in a web worker of the browser, where it answers the requests of the
// page. The script site/worker.js starts it.
package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"syscall/js"
)

func main() {
	handler, err := newSiteHandler(context.Background())
	if err != nil {
		js.Global().Call("kirFailed", err.Error())
		return
	}
	js.Global().Call("kirReady", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return serveRequest(handler, args[0], args[1])
	}))
	select {}
}

// serveRequest lets the handler answer a request, which is a JavaScript object {method, path, headers, body}.
// It passes the answer to the methods head(status, headers), chunk(bytes) and end() of the JavaScript object
// answer. serveRequest returns a function that cancels the request.
func serveRequest(handler http.Handler, request, answer js.Value) any {
	ctx, cancel := context.WithCancel(context.Background())
	body := []byte(nil)
	if given := request.Get("body"); given.Truthy() {
		body = make([]byte, given.Get("length").Int())
		js.CopyBytesToGo(body, given)
	}
	r, err := http.NewRequestWithContext(ctx, request.Get("method").String(), request.Get("path").String(), bytes.NewReader(body))
	if err != nil {
		panic(err) // the worker asks for addresses that it has parsed
	}
	headers := request.Get("headers")
	for names := js.Global().Get("Object").Call("keys", headers); names.Length() > len(r.Header); {
		name := names.Index(len(r.Header)).String()
		r.Header.Set(name, headers.Get(name).String())
	}
	w := &responseWriter{answerCallbacks: answer, header: make(http.Header)}
	go func() {
		defer cancel()
		handler.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
		answer.Call("end")
	}()
	var stop js.Func
	stop = js.FuncOf(func(js.Value, []js.Value) any {
		cancel()
		stop.Release()
		return nil
	})
	return stop
}

// A responseWriter is an [http.ResponseWriter] that passes the response of a handler on to the web worker.
type responseWriter struct {
	answerCallbacks js.Value // JavaScript object with the methods head, chunk and end; see serveRequest
	header          http.Header
	headSent        bool
}

var (
	_ http.ResponseWriter = (*responseWriter)(nil)
	_ http.Flusher        = (*responseWriter)(nil)
	_ io.StringWriter     = (*responseWriter)(nil)
)

func (w *responseWriter) Header() http.Header { return w.header }

func (w *responseWriter) WriteHeader(status int) {
	if w.headSent {
		return
	}
	w.headSent = true
	headers := make(map[string]any, len(w.header))
	for name, values := range w.header {
		headers[name] = strings.Join(values, ", ")
	}
	w.answerCallbacks.Call("head", status, headers)
}

func (w *responseWriter) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	chunk := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(chunk, data)
	w.answerCallbacks.Call("chunk", chunk)
	return len(data), nil
}

func (w *responseWriter) WriteString(text string) (int, error) { return w.Write([]byte(text)) }

// Flush does nothing, because Write passes each part of the response on at once.
func (w *responseWriter) Flush() {}
