package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

func TestSiteTry(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir("/tmp/wasm/site2")))
	defer server.Close()
	ctx := browser(t, chromium(t), onlyFonts(t, "DejaVu Sans", "fonts-dejavu"))
	if err := chromedp.Listen(ctx, func(ev any) {
		switch e := ev.(type) {
		case *runtime.EventConsoleAPICalled:
			for _, a := range e.Args {
				fmt.Printf("console: %s\n", a.Value)
			}
		case *runtime.EventExceptionThrown:
			fmt.Printf("exception: %v %v\n", e.ExceptionDetails.Text, e.ExceptionDetails.Exception.Description)
		case *log.EventEntryAdded:
			fmt.Printf("log: %s %s\n", e.Entry.Text, e.Entry.URL)
		}
	}); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	w := &walk{t, ctx}
	shoot := func(name string) {
		shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: "png"})
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile("/tmp/wasm/"+name+".png", shot.Data, 0o600)
	}
	at := func(what string) { fmt.Printf("%.1f s: %s\n", time.Since(begun).Seconds(), what) }
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1400, 1000), chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	w.is("the page", "document.getElementById('kir-site')")
	at("page")
	shoot("s1")
	csv, err := os.ReadFile("../../examples/spritz/trials.csv")
	if err != nil {
		t.Fatal(err)
	}
	w.does(fmt.Sprintf(`const d = new DataTransfer(); d.items.add(new File([%q], 'trials.csv')); document.dispatchEvent(new DragEvent('drop', {dataTransfer: d, bubbles: true, cancelable: true}))`, string(csv)))
	w.is("the go", "!document.getElementById('go').disabled && document.getElementById('go').offsetParent")
	at("table read")
	shoot("s2")
	w.click("#go")
	for k := range 20 {
		time.Sleep(2 * time.Second)
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText.slice(0, 300) + '|' + document.getElementById('said')?.innerText + '|' + document.getElementById('phase')?.innerText`))
		fmt.Println(k, text, err)
		if strings.Contains(text, "Draw") { break }
	}
	shoot("s2b")
	w.is("the session", "document.getElementById('phase') && document.getElementById('answer-section')")
	at("session")
	last := ""
	for time.Since(begun) < 150*time.Second {
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(document.getElementById('phase')?.textContent ?? '') + ' | ' + (document.getElementById('answer-section')?.innerText.slice(0, 250) ?? document.body.innerText)`))
		if err != nil {
			t.Fatal(err)
		}
		if text != last {
			at(strings.ReplaceAll(text, "\n", " "))
			last = text
		}
		if strings.HasPrefix(text, "Settled") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	shoot("s3")
	if err := chromedp.Do(ctx, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	begun = time.Now()
	w.is("the session", "document.getElementById('phase') && document.getElementById('answer-section')")
	at("session again")
}
