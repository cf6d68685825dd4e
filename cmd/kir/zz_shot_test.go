package main

import (
	"os"
	"testing"
	"time"
	"fmt"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

func TestZShot(t *testing.T) {
	url := os.Getenv("SHOT_URL")
	if url == "" { t.Skip() }
	ctx := browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))
	w := new(witness)
	if err := chromedp.Listen(ctx, w.see); err != nil { t.Fatal(err) }
	wait, _ := strconv.ParseFloat(os.Getenv("SHOT_WAIT"), 64)
	for _, width := range []int64{360, 1000, 1800} {
		for _, scheme := range []string{"light", "dark"} {
			if scheme == "dark" && width != 1000 { continue }
			chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 1200), chromedp.Navigate(url)); err != nil { t.Fatal(err) }
			time.Sleep(time.Duration(wait*1000) * time.Millisecond)
			if js := os.Getenv("SHOT_JS"); js != "" { 
				if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](js)); err != nil { t.Log(err) }
				time.Sleep(time.Second)
			}
			for k, id := range strings.Fields(os.Getenv("SHOT_IDS")) {
			chromedp.Run(ctx, chromedp.Evaluate[any]("document.getElementById('"+id+"').scrollIntoView({block:'start'})"))
			time.Sleep(300*time.Millisecond)
			b, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
			if err != nil { t.Fatal(err) }
			os.WriteFile(fmt.Sprintf("/dev/shm/shot/%s-%d-%s-%d.png", os.Getenv("SHOT_NAME"), width, scheme, k), b, 0o666)
			}
			m, _ := w.take(); if len(m) > 0 { t.Log(width, scheme, m) }
			fmt.Println(width, scheme)
		}
	}
}
