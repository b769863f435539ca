// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
	"github.com/1bit-MONSTER/engine/engine/serve/servetest"
)

// atOnce is how many clients the tests here have.
const atOnce = 100

// TestDrainManyStreams: all that are under way end as they should, however many
// they are, and others are told that they come too late.
func TestDrainManyStreams(t *testing.T) {
	r := start(t, "", func(c *Config) { c.DrainLimit = time.Minute }).up()
	var all sync.WaitGroup
	begun, whole := make(chan error, atOnce), make(chan error, atOnce)
	for range atOnce {
		all.Go(func() {
			resp, err := http.Post(r.url+"/v1/chat/completions", "application/json", strings.NewReader(`{"stream":true,"delay":300,"messages":[1]}`))
			begun <- err
			if err != nil {
				return
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err == nil && (resp.StatusCode != 200 || !strings.HasSuffix(string(b), "data: [DONE]\n\n")) {
				err = fmt.Errorf("%d %q", resp.StatusCode, b)
			}
			whole <- err
		})
	}
	for range atOnce {
		if err := <-begun; err != nil {
			t.Error(err)
		}
	}
	r.stop()
	r.until("/health", 503, `{"status":"stopping"}`)
	if code, body := r.do("POST", "/v1/chat/completions", hello); code != 503 {
		t.Errorf("late: %d %s", code, body)
	}
	all.Wait()
	close(whole)
	for err := range whole {
		if err != nil {
			t.Error(err)
		}
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// TestRoutesUnderLoad: with each way to share requests, many at once are all
// answered, and each conversation stays where it is.
func TestRoutesUnderLoad(t *testing.T) {
	dir := t.TempDir()
	long := gguftest.File{KV: []gguftest.KV{{Key: "onebit.hadamard_q4_0", Value: int32(32)}}}.Write(t, filepath.Join(dir, "long.gguf"))
	script, model := filepath.Join(dir, "laya"), filepath.Join(dir, "laya.gguf")
	for path, text := range map[string]string{script: layaScript, model: ""} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("ONEBIT_LAYA_GGML", script)
	for name, change := range map[string]func(*Config){
		"adaptive": func(c *Config) { c.Request.Adaptive, c.Request.AdaptiveAt = true, 2 },
		"long":     func(c *Config) { c.Request.LongModel, c.Request.LongFrom = long, 20 },
		"laya":     func(c *Config) { c.Request.Laya, c.Request.LayaModel, c.Request.Device = true, model, devices.Auto },
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, servetest.AllDevices, distribution(t), change).up()
			var all sync.WaitGroup
			var mu sync.Mutex
			on := map[string]map[string]bool{} // notes of each conversation
			for i := range atOnce {
				say := []string{"write a function", "short", strings.Repeat("word ", 30), strings.Repeat("x", 2000)}[i%4]
				all.Go(func() {
					resp, err := http.Post(r.url+"/v1/chat/completions", "application/json", strings.NewReader(fmt.Sprintf(`{"messages":[{"role":"user","content":%q}]}`, say)))
					if err != nil {
						t.Error(err)
						return
					}
					defer resp.Body.Close()
					if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 {
						t.Errorf("%d %.200s %v", resp.StatusCode, b, err)
					}
					mu.Lock()
					defer mu.Unlock()
					if on[say] == nil {
						on[say] = map[string]bool{}
					}
					on[say][resp.Header.Get(routeHeader)] = true
				})
			}
			all.Wait()
			for say, notes := range on {
				if len(notes) != 1 {
					t.Errorf("%.20q went to %v", say, notes)
				}
			}
			r.stop()
			if err := r.end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAdaptiveNeverTakesMore: choosing and reserving are one step.
func TestAdaptiveNeverTakesMore(t *testing.T) {
	p := &adaptivePicker{units: []*unit{{}, {}, {}}, at: 3}
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() { p.pick(t.Context(), ask{}) })
	}
	all.Wait()
	if a, b, c := p.units[0].active.Load(), p.units[1].active.Load(), p.units[2].active.Load(); a != 3 || a+b+c != atOnce || b-c > 1 || c-b > 1 {
		t.Errorf("%d, %d, %d", a, b, c)
	}
}
