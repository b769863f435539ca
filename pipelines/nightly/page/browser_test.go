// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/internal/parts"
	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "a folder to write pictures of the sample page into")

// A browser is one tab that shows one page, served at an address of this
// machine; no other name leads anywhere.
type browser struct {
	context.Context
	url string

	mu       sync.Mutex
	asked    []string // of the server
	requests []string // as the browser itself tells
	console  []string // what the browser complains of, of the page
}

// launch starts headless Chromium.
func launch(t *testing.T) context.Context {
	t.Helper()
	chromium := parts.Need(t, "chromium")
	// Chromium keeps its profile in HOME unless told otherwise, and leaves
	// files in it for a moment after its end.
	dir, err := os.MkdirTemp("", "chromium-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	options := append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)],
		chromedp.ExecPath(chromium.Path), chromedp.UserDataDir(filepath.Join(dir, "profile")),
		chromedp.NoInheritEnv, chromedp.Env("PATH="+os.Getenv("PATH"), "HOME="+dir, "LC_ALL=C.UTF-8", "TZ=UTC"),
		chromedp.DisableGPU,
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("no-pings", true),
	)
	if os.Geteuid() == 0 || !userNamespaces() {
		options = append(options, chromedp.NoSandbox) // Chromium has none as root; the page is our own
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// open shows a page in a tab of its own.
func open(t *testing.T, chromium context.Context, html string) *browser {
	t.Helper()
	b := &browser{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.note(&b.asked, r.Method+" "+r.RequestURI)
		if r.RequestURI != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, html)
	}))
	t.Cleanup(server.Close)
	b.url = server.URL + "/"
	ctx, cancel := chromedp.NewContext(chromium)
	t.Cleanup(cancel)
	b.Context = ctx
	call(t, b, network.Enable, network.EnableParams{})
	call(t, b, log.Enable, cdp.Empty{})
	if err := chromedp.Listen(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			b.note(&b.requests, ev.Request.URL)
		case *log.EventEntryAdded:
			b.note(&b.console, ev.Entry.Text)
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.look(t, 1280, "light")
	return b
}

// look shows the page anew at a width, in a colour scheme.
func (b *browser) look(t *testing.T, width int64, scheme string) {
	t.Helper()
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	if err := chromedp.Do(b, chromedp.EmulateViewport(width, 800), chromedp.Navigate(b.url)); err != nil {
		t.Fatal(err)
	}
}

func (b *browser) note(list *[]string, s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*list = append(*list, s)
}

func (b *browser) told(list *[]string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, *list...)
}

func call[P, R any](t *testing.T, b *browser, c cdp.Command[P, R], params P) R {
	t.Helper()
	r, err := chromedp.Call(b, c, params)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func evaluate[T any](t *testing.T, b *browser, script string, options ...chromedp.EvaluateOption) T {
	t.Helper()
	x, err := chromedp.Run(b, chromedp.Evaluate[T](script, options...))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// userNamespaces says whether a plain user's Chromium can have its sandbox.
func userNamespaces() bool {
	return exec.Command("unshare", "--user", "--pid", "--net", "true").Run() == nil
}

func TestBrowser(t *testing.T) {
	chromium := launch(t)
	t.Run("policy", func(t *testing.T) { testPolicy(t, chromium) })
	t.Run("widths", func(t *testing.T) { testWidths(t, chromium) })
	t.Run("schemes", func(t *testing.T) { testSchemes(t, chromium) })
	t.Run("screen reader", func(t *testing.T) { testScreenReader(t, chromium) })
}

func testPolicy(t *testing.T, chromium context.Context) {
	b := open(t, chromium, render(t, sample().HTML))

	t.Run("asks for nothing", func(t *testing.T) {
		for _, u := range append(b.told(&b.requests), b.told(&b.asked)...) {
			if u != b.url && u != "GET /" {
				t.Errorf("the browser asked for %s", u)
			}
		}
		if got := b.told(&b.console); len(got) > 0 {
			t.Errorf("the browser complains: %q", got)
		}
		if n := len(b.told(&b.requests)); n != 1 {
			t.Errorf("%d requests, want the page alone", n)
		}
	})

	t.Run("has its style, and no other may run", func(t *testing.T) {
		if got := evaluate[string](t, b, `getComputedStyle(document.querySelector("h1")).fontSize`); got != "28px" {
			t.Errorf("the title's size is %s: the policy keeps the page's own style out", got)
		}
		// What an attacker would try is blocked by the page's own policy.
		evaluate[bool](t, b, `(() => {
			for (const [tag, at] of [["img", "src"], ["script", "src"], ["link", "href"], ["iframe", "src"]]) {
				const e = document.createElement(tag);
				if (tag === "link") e.rel = "stylesheet";
				e[at] = "`+b.url+`stolen-" + tag;
				document.body.append(e);
			}
			const s = document.createElement("script");
			s.textContent = "document.title = 'run'";
			document.body.append(s);
			return true;
		})()`)
		if got := evaluate[string](t, b, `fetch("`+b.url+`stolen").then(() => "fetched", () => "blocked")`, chromedp.EvalAwaitPromise); got != "blocked" {
			t.Errorf("fetch: %s", got)
		}
		if got := evaluate[string](t, b, `document.title`); got != sample().Title {
			t.Errorf("an inline script ran: the title is %q", got)
		}
		for _, u := range b.told(&b.asked) {
			if strings.Contains(u, "stolen") {
				t.Errorf("the server was asked for %s", u)
			}
		}
	})
}

func testWidths(t *testing.T, chromium context.Context) {
	for name, p := range map[string]*Page{"sample": sample(), "hostile": hostile()} {
		t.Run(name, func(t *testing.T) {
			b := open(t, chromium, render(t, p.HTML))
			for _, width := range []int64{320, 360, 768, 1000, 1001, 1280} {
				b.look(t, width, "light")
				over := evaluate[[]string](t, b, `[...document.querySelectorAll("body *")].filter(e => !e.closest(".symbols, .hidden, thead, use")
					&& (e.getBoundingClientRect().right > innerWidth + .5 || e.getBoundingClientRect().left < -.5 || e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && getComputedStyle(e).display !== "inline"))
					.map(e => e.tagName + "." + e.getAttribute("class") + " " + Math.round(e.getBoundingClientRect().right) + " " + e.scrollWidth + ">" + e.clientWidth)`)
				if len(over) > 0 {
					t.Errorf("%d px: too wide: %q", width, over)
				}
				if w := evaluate[int64](t, b, `document.scrollingElement.scrollWidth`); w > width {
					t.Errorf("%d px: the page scrolls sideways: it is %d px wide", width, w)
				}
				cards := evaluate[string](t, b, `getComputedStyle(document.querySelector("tbody tr")).display`)
				if want := map[bool]string{true: "grid", false: "table-row"}[width <= 1000]; cards != want {
					t.Errorf("%d px: rows are shown as %s, want %s", width, cards, want)
				}
			}
		})
	}
}

// contrast returns the texts and marks whose contrast with what is behind them
// is too small, by the formula of WCAG 2: 4.5 for text, 3 for marks.
const contrast = `(() => {
	const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return {rgb: m.slice(0, 3), a: m.length > 3 ? m[3] : 1}; };
	const light = rgb => { const [r, g, b] = rgb.map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
	const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.a === 1) return c.rgb; if (c.a > 0) throw "translucent"; } throw "nothing behind"; };
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
	const wrong = []; let looked = 0;
	const judge = (e, color, least, what) => { looked++; const r = ratio(parse(color).rgb, behind(e)); if (r < least) wrong.push(what + " " + r.toFixed(2)); };
	document.querySelectorAll("details").forEach(d => d.open = true);
	const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	for (let n; n = walk.nextNode();) if (n.data.trim() && !n.parentElement.closest("title")) judge(n.parentElement, getComputedStyle(n.parentElement).color, 4.5, n.data.trim().slice(0, 30));
	document.querySelectorAll("main svg use").forEach(u => judge(u.closest("svg").parentElement, getComputedStyle(u).color, 3, "mark " + u.getAttribute("href")));
	return {looked, wrong};
})()`

func testSchemes(t *testing.T, chromium context.Context) {
	b := open(t, chromium, render(t, sample().HTML))
	pictures := map[string]string{}
	for _, width := range []int64{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			b.look(t, width, scheme)
			picture, err := chromedp.Run(b, chromedp.FullScreenshot(100))
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%d-%s.png", width, scheme)
			pictures[name] = string(picture)
			if *screenshots != "" {
				if err := os.WriteFile(filepath.Join(*screenshots, name), picture, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got := evaluate[struct {
				Looked int      `json:"looked"`
				Wrong  []string `json:"wrong"`
			}](t, b, contrast)
			if got.Looked < 300 || len(got.Wrong) > 0 {
				t.Errorf("%s: of %d texts and marks, too little contrast: %q", name, got.Looked, got.Wrong)
			}
			// The test can fail: grey on grey does.
			evaluate[bool](t, b, `document.querySelector("h1").style.setProperty("color", "#808080") ?? true`)
			evaluate[bool](t, b, `document.body.style.setProperty("background", "#909090") ?? true`)
			if got := evaluate[struct {
				Wrong []string `json:"wrong"`
			}](t, b, contrast); len(got.Wrong) == 0 {
				t.Errorf("%s: grey on grey is not seen", name)
			}
		}
	}
	for _, width := range []string{"1280", "360"} {
		if pictures[width+"-light.png"] == pictures[width+"-dark.png"] {
			t.Errorf("%s px: dark looks as light does", width)
		}
	}
}

// heard is what a screen reader gets: role and name of each node that has both.
func (b *browser) heard(t *testing.T) map[string]int {
	t.Helper()
	got := map[string]int{}
	for _, n := range call(t, b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		name := ""
		if n.Name != nil {
			name = strings.Trim(string(n.Name.Value), `"`)
		}
		got[strings.Trim(string(n.Role.Value), `"`)+": "+name]++
	}
	return got
}

func testScreenReader(t *testing.T, chromium context.Context) {
	b := open(t, chromium, render(t, sample().HTML))
	if got := evaluate[string](t, b, `document.documentElement.lang`); got != "en" {
		t.Errorf("lang is %q", got)
	}
	for _, width := range []int64{1280, 360} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			b.look(t, width, "light")
			heard := b.heard(t)
			roles := map[string]int{}
			for k, n := range heard {
				role, _, _ := strings.Cut(k, ": ")
				roles[role] += n
			}
			groups := len(sample().Groups)
			for role, want := range map[string]int{
				"main": 1, "table": 1, "row": groups + 1, "rowheader": groups, "columnheader": 5, "cell": 4 * groups, "image": groups,
			} {
				if roles[role] != want {
					t.Errorf("%d nodes with role %s, want %d", roles[role], role, want)
				}
			}
			for _, want := range []string{
				"heading: Nightly pins of the 1bit engine", "heading: 2 alarms", "region: 2 alarms", "rowheader: amd", "columnheader: Last 30 nights",
				"table: 8 groups of pins What needs attention comes first.", "link: llama-vulkan: v0.5.0 to v0.5.1",
				"image: 30 nights: 25 pass, 5 fail. The last night, 28 Nov: fail: contracts: llama-hrx uses loomc_target_artifact_kind, which hrx-system no longer has.",
				"image: 30 nights: 30 without a run. The last night, 28 Nov: no run.",
			} {
				if heard[want] == 0 {
					t.Errorf("nobody hears %q", want)
				}
			}
			if t.Failed() {
				t.Logf("%v", heard)
			}
			if n := evaluate[int](t, b, `document.querySelectorAll("h1").length`); n != 1 {
				t.Errorf("%d titles", n)
			}
			if ids := evaluate[[]string](t, b, `[...document.querySelectorAll("[id]")].map(e => e.id).filter((x, i, all) => all.indexOf(x) !== i)`); len(ids) > 0 {
				t.Errorf("ids that are there twice: %q", ids)
			}
			if lost := evaluate[[]string](t, b, `[...document.querySelectorAll("a[href^='#'], use")].map(e => e.getAttribute("href")).filter(h => !document.getElementById(h.slice(1)))`); len(lost) > 0 {
				t.Errorf("links that lead nowhere: %q", lost)
			}
		})
	}
}
