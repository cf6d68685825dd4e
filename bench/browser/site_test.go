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
	server := httptest.NewServer(http.FileServer(http.Dir("/tmp/wasm/site")))
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
	if err := chromedp.Do(ctx, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	last := ""
	for time.Since(begun) < 150*time.Second {
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(document.getElementById('phase')?.textContent ?? '') + ' | ' + (document.getElementById('list')?.innerText.slice(0, 150) ?? document.body.innerText)`))
		if err != nil {
			t.Fatal(err)
		}
		if text != last {
			fmt.Printf("%.1f s: %s\n", time.Since(begun).Seconds(), strings.ReplaceAll(text, "\n", " "))
			last = text
		}
		if strings.HasPrefix(text, "Settled") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: "png"})
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/wasm/shot.png", shot.Data, 0o600)
}
