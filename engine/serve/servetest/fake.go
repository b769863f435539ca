// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

// Package servetest is a small program that speaks llama-server's protocol,
// for tests of what stands in front of one. A test binary becomes it by
// calling Main, see testscript.Main or a TestMain that starts itself again.
//
// Its variables: FAKE_LLAMA says how it behaves (the modes below), and
// FAKE_LLAMA_LOG names a file to which it writes its process id, command line
// and environment.
package servetest

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Mode and log variables.
const (
	ModeVariable = "FAKE_LLAMA"
	LogVariable  = "FAKE_LLAMA_LOG"
)

// Modes; an empty one is a llama-server that works.
const (
	ExitsAtOnce  = "exit"        // says why and exits with status 1
	Hangs        = "hang"        // does nothing at all
	DiesLoading  = "die-loading" // exits with status 4 after a while of 503
	NeverReady   = "never"       // stays at 503
	DiesOnChat   = "die"         // exits with status 3 at the first chat
	IgnoresTerm  = "ignore"      // ignores SIGTERM
	Forks        = "fork"        // leaves a child in its process group, written to the log as well
	BreaksStream = "break"       // ends a stream in the middle
	WithVulkan   = "vulkan"      // lists the device Vulkan0
	AllDevices   = "all"         // lists Vulkan0, HRX0 and ROCm0
	OnlySoftware = "llvmpipe"    // lists a software renderer as Vulkan0
	Slow         = "slow"        // takes a second to load
	HTML         = "html-error"  // answers a chat with an error that is no JSON
	Raw          = "raw"         // answers a chat with the bytes of its key "raw", and holds the connection
)

// Record is what the log holds: one line of JSON.
type Record struct {
	PID  int
	Fork int // process id of the child of mode Forks
	Args []string
	Env  []string
}

// ReadRecord waits for the log at path and reads it.
func ReadRecord(path string) (Record, error) {
	var r Record
	for range 500 {
		b, err := os.ReadFile(path)
		if err == nil && strings.HasSuffix(string(b), "\n") {
			return r, json.Unmarshal(b, &r)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return r, fmt.Errorf("%s was not written in 10 s", path)
}

// Main is the program. It exits.
func Main() {
	mode := os.Getenv(ModeVariable)
	if len(os.Args) > 1 {
		answers(os.Args[1], mode)
	}
	if mode == "sleep" { // the child of mode Forks
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	life(mode)
}

// answers says what the program can do, when that is asked, and exits.
func answers(question, mode string) {
	switch question {
	case "--help":
		fmt.Print(Help)
		os.Exit(0)
	case "--version":
		fmt.Fprintln(os.Stderr, "version: 0.7.0 (build 11669, commit fake)")
		os.Exit(0)
	case "--list-devices":
		fmt.Println("Available devices:")
		switch mode {
		case WithVulkan:
			fmt.Println("  Vulkan0: AMD Radeon 8060S Graphics (RADV STRIX_HALO) (86016 MiB, 83633 MiB free)")
		case AllDevices:
			for _, name := range []string{"Vulkan0", "HRX0", "ROCm0"} {
				fmt.Println("  " + name + ": AMD Radeon 8060S Graphics (86016 MiB, 83633 MiB free)")
			}
		case OnlySoftware:
			fmt.Println("  Vulkan0: llvmpipe (LLVM 21.1.8, 256 bits) (24105 MiB, 24105 MiB free)")
		default:
			fmt.Println("  (none)")
		}
		os.Exit(0)
	}
}

// life is the server.
func life(mode string) {
	record(mode)
	if mode == ExitsAtOnce {
		fmt.Fprintln(os.Stderr, "error loading model: tensor 'x' has wrong shape")
		fmt.Fprintln(os.Stderr, "exiting due to model loading error")
		os.Exit(1)
	}
	if mode == Hangs {
		time.Sleep(time.Hour)
	}
	if mode == DiesLoading {
		time.AfterFunc(300*time.Millisecond, func() {
			fmt.Fprintln(os.Stderr, "out of device memory")
			os.Exit(4)
		})
	}
	flags := flag.NewFlagSet("llama-server", flag.ExitOnError)
	host, port := flags.String("host", "", ""), flags.Int("port", 0, "")
	for _, name := range []string{"m", "device", "ngl", "c", "np", "fa", "b", "ub", "spec-type", "md", "ngld", "spec-draft-n-max", "spec-draft-p-min"} {
		flags.String(name, "", "")
	}
	for _, name := range []string{"jinja", "embedding", "reranking", "kvu"} {
		flags.Bool(name, false, "")
	}
	flags.Parse(os.Args[1:])
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	go func() {
		for range terms {
			if mode != IgnoresTerm {
				os.Exit(0)
			}
		}
	}()
	fmt.Fprintln(os.Stderr, "fake llama-server: loading")
	err := http.ListenAndServe(*host+":"+strconv.Itoa(*port), handler(mode))
	fmt.Fprintln(os.Stderr, "couldn't bind HTTP server socket:", err)
	os.Exit(1)
}

// Help is the answer to --help, in the form of llama-server's.
const Help = `----- common params -----

-m,    --model FNAME                    model path to load
-c,    --ctx-size N                     size of the prompt context (default: 0)
-b,    --batch-size N                   logical maximum batch size (default: 2048)
-ub,   --ubatch-size N                  physical maximum batch size (default: 512)
-fa,   --flash-attn [on|off|auto]       set Flash Attention use
-np,   --parallel N                     number of server slots (default: -1)
-kvu,  --kv-unified, -no-kvu, --no-kv-unified
                                        use single unified KV buffer shared across all sequences
-dev,  --device <dev1,dev2,..>          comma-separated list of devices to use for offloading
-ngl,  --gpu-layers, --n-gpu-layers N   max. number of layers to store in VRAM
--jinja, --no-jinja                     whether to use jinja template engine for chat
--embedding, --embeddings               restrict to only support embedding use case
--rerank, --reranking                   enable reranking endpoint on server
--spec-type none,draft-mtp,draft-dflash
                                        types of speculative decoding to use
--spec-draft-model, -md, --model-draft FNAME
                                        draft model for speculative decoding
--spec-draft-ngl, -ngld N               layers of the draft model to store in VRAM
--spec-draft-n-max N                    number of tokens to draft
--spec-draft-p-min P                    minimum speculative decoding probability
`

func record(mode string) {
	path := os.Getenv(LogVariable)
	if path == "" {
		return
	}
	r := Record{PID: os.Getpid(), Args: os.Args[1:], Env: os.Environ()}
	if mode == Forks {
		exe, err := os.Executable()
		if err != nil {
			panic(err)
		}
		c := exec.Command(exe)
		c.Args = os.Args[:1]
		c.Env = append(os.Environ(), ModeVariable+"=sleep")
		if err := c.Start(); err != nil {
			panic(err)
		}
		r.Fork = c.Process.Pid
	}
	b, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(path, append(b, '\n'), 0o600)
	}
	if err != nil {
		panic(err)
	}
}

func handler(mode string) http.Handler {
	begin := time.Now()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		if mode == NeverReady || mode == DiesLoading || (mode == Slow && time.Since(begin) < time.Second) {
			answer(w, 503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`)
			return
		}
		answer(w, 200, `{"status":"ok"}`)
	})
	key := os.Getenv("LLAMA_API_KEY")
	var active atomic.Int64 // shown at /slots
	work := func(w http.ResponseWriter, r *http.Request) {
		active.Add(1)
		defer active.Add(-1)
		if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
			answer(w, 401, `{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}`)
			return
		}
		var body struct {
			Stream   bool
			Messages []any
			Prompt   any
			Delay    int // milliseconds before each part of a stream
			Raw      string
		}
		b, _ := io.ReadAll(r.Body)
		json.Unmarshal(b, &body)
		switch {
		case mode == DiesOnChat:
			fmt.Fprintln(os.Stderr, "GGML_ASSERT: the roof is on fire")
			os.Exit(3)
		case mode == Raw:
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			defer c.Close()
			io.WriteString(c, body.Raw)
			if !strings.HasSuffix(body.Raw, "END") {
				io.Copy(io.Discard, c) // until they hang up
			}
		case mode == HTML:
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(500)
			io.WriteString(w, "<h1>500</h1>")
		case body.Messages == nil && body.Prompt == nil:
			answer(w, 400, `{"error":{"code":400,"message":"'messages' is required","type":"invalid_request_error"}}`)
		case body.Stream:
			stream(w, r, mode, time.Duration(body.Delay)*time.Millisecond)
		default:
			answer(w, 200, fmt.Sprintf(`{"id":"chatcmpl-1", "model":"/models/x.gguf", "object":"chat.completion","choices":[{"message":{"content":"Hello from %s"}}],"usage":{"total_tokens":3},"request":%s,"args":%q}`, r.URL.Path, b, strings.Join(os.Args[1:], " ")))
		}
	}
	mux.HandleFunc("POST /v1/chat/completions", work)
	mux.HandleFunc("POST /v1/completions", work)
	mux.HandleFunc("POST /apply-template", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		answer(w, 200, fmt.Sprintf(`{"prompt":%q}`, string(b)))
	})
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) { // a token a word
		var body struct{ Content string }
		b, _ := io.ReadAll(r.Body)
		json.Unmarshal(b, &body)
		tokens, _ := json.Marshal(strings.Fields(body.Content))
		answer(w, 200, `{"tokens":`+string(tokens)+`}`)
	})
	for _, path := range []string{"/v1/embeddings", "/v1/rerank"} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			answer(w, 200, `{"model":"/models/x.gguf","role":"`+strings.Join(os.Args, " ")+`"}`)
		})
	}
	mux.HandleFunc("GET /slots", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, fmt.Sprintf(`{"active":%d}`, active.Load()))
	})
	mux.HandleFunc("GET /props", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		answer(w, 200, `{"model_path":"/models/x.gguf","query":"`+r.URL.RawQuery+`"}`)
	})
	return mux
}

// StreamParts are the parts of every stream, as they are sent.
var StreamParts = []string{
	`data: {"model":"/models/x.gguf","choices":[{"delta":{"role":"assistant","content":null}}]}` + "\n\n",
	`data: {"model":"/models/x.gguf","choices":[{"delta":{"content":"Hel"}}]}` + "\n\n",
	`data: {"model":"/models/x.gguf","choices":[{"delta":{"content":"lo"}}]}` + "\n\n",
	"data: [DONE]\n\n",
}

func stream(w http.ResponseWriter, r *http.Request, mode string, delay time.Duration) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i, part := range StreamParts {
		if mode == BreaksStream && i == 2 {
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, part)
		w.(http.Flusher).Flush()
		select {
		case <-time.After(delay):
		case <-r.Context().Done():
			return
		}
	}
}

func answer(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	io.WriteString(w, body)
}
