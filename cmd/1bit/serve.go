// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/engine/serve"
	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func newServe() *cobra.Command {
	var (
		c      serve.Config
		device string
	)
	cmd := &cobra.Command{
		Use:   "serve -m MODEL.gguf",
		Short: "Serve a model over the OpenAI HTTP API",
		Long: `Serve a model over the OpenAI HTTP API.

The server listens at once: /health answers 503 while the model loads and 200
from then on. The work is done by a backend program, a llama-server, which is
looked for in this order: --llama-server, the variable ONEBIT_LLAMA_SERVER,
the distribution's folders beside this binary, PATH. It ends with this program.

With --device auto the model runs on the GPU through Vulkan where there is one
that the backend lists, otherwise on the CPU.

There is no authentication. On the default address 127.0.0.1, only programs of
this machine get in, and no pages of other sites.`,
		Example: `  1bit serve -m qwen3-8b.gguf
  1bit serve -m qwen3-8b.gguf --device cpu --ctx-size 8192 --port 9000
  curl http://127.0.0.1:8000/v1/chat/completions -d '{"messages":[{"role":"user","content":"Hello"}]}'`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			if c.Request.Model == "" {
				fmt.Fprintln(env.Err, cmd.UsageString())
				return verdict.Usagef("which model? Give its file with -m")
			}
			var ok bool
			if c.Request.Device, ok = devices.Parse(device); !ok {
				return verdict.Usagef("--device %s: there are %s", device, devices.List())
			}
			if c.Port < 0 || c.Port > 65535 {
				return verdict.Usagef("--port %d: give a number from 1 to 65535, or 0 for any free port", c.Port)
			}
			c.Machine = route.ThisHost()
			c.Log = env.Err
			c.Listening = func(s serve.Status) { env.Notef("1bit serve: listening on %s, loading %s", s.URL, s.Model) }
			c.Ready = func(s serve.Status) {
				env.Notef("1bit serve: %s is ready on %s", s.Model, s.Device)
				if env.JSON {
					env.PrintJSON(s)
				}
			}
			return serve.Run(cmd.Context(), c)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&c.Request.Model, "model", "m", "", "`file` of the model, GGUF; the first one of a split model")
	f.IntVarP(&c.Port, "port", "p", 8000, "`port` to listen on; 0 for any free one")
	f.StringVar(&c.Host, "host", "127.0.0.1", "`address` to listen on")
	f.StringVar(&device, "device", string(devices.Auto), "`device` to run on: "+devices.List())
	f.IntVarP(&c.Request.CtxSize, "ctx-size", "c", 0, "context in `tokens`; 0 for the backend's default")
	f.StringVar(&c.Alias, "alias", "", "`name` of the model in answers (default: the file's name without .gguf)")
	f.IntVar(&c.Request.Parallel, "parallel", 0, "`requests` to work on at once; 0 for the backend's default")
	f.StringVar(&c.Request.FlashAttn, "flash-attn", "", "flash attention: `on`, off or auto (default: the backend's)")
	f.BoolVar(&c.Request.Embedding, "embedding", false, "serve embeddings")
	f.BoolVar(&c.Request.Reranking, "reranking", false, "serve reranking")
	f.StringVar(&c.Request.LlamaServer, "llama-server", "", "`path` of the llama-server to use")
	f.DurationVar(&c.ReadyLimit, "ready-timeout", serve.ReadyLimit, "how long the model may load")
	f.MarkHidden("ready-timeout")
	f.BoolVar(&c.Request.Embedding, "embeddings", false, "another spelling of --embedding")
	f.MarkHidden("embeddings")
	cmd.MarkFlagFilename("model", "gguf")
	cmd.RegisterFlagCompletionFunc("device", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, n := range devices.All() {
			names = append(names, string(n))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}
