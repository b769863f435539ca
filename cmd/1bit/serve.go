// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/1bit-MONSTER/engine/engine/route"
	"github.com/1bit-MONSTER/engine/engine/serve"
	"github.com/1bit-MONSTER/engine/internal/cli"
	"github.com/1bit-MONSTER/engine/internal/verdict"
)

func newServe() *cobra.Command {
	var (
		c   serve.Config
		q   request
		dry bool
	)
	cmd := &cobra.Command{
		Use:   "serve -m MODEL.gguf",
		Short: "Serve a model over the OpenAI HTTP API",
		Long: `Serve a model over the OpenAI HTTP API.

The server listens at once: /health answers 503 while the model loads and 200
from then on. The work is done by a backend program, which ends with this one.
It is looked for in this order: its flag (--llama-server, --zinc, --mlx-server),
its variable (ONEBIT_LLAMA_SERVER, ONEBIT_LEAN_SERVER, ONEBIT_ZINC,
LEMONADE_MLX_SERVER), the distribution's folders beside this binary, PATH.

With --device auto a GGUF model runs on the GPU, through HRX where that build is
there and takes the model, otherwise through Vulkan; without a GPU on the CPU. A
Hadamard-rotated model runs on rocm, a folder for the NPU on npu.

A variable that is set already is never changed. '1bit devices' says what this
machine has, '1bit doctor' what a command line would do.

There is no authentication. On the default address 127.0.0.1, only programs of
this machine get in, and no pages of other sites.`,
		Example: `  1bit serve -m qwen3-8b.gguf
  1bit serve -m qwen3-8b.gguf --device cpu --ctx-size 8192 --port 9000
  1bit serve -m qwen3-8b.gguf --host unix:/run/user/1000/1bit.sock
  1bit serve -m qwen3-8b.gguf --embed bge-m3.gguf --dry-run
  curl http://127.0.0.1:8000/v1/chat/completions -d '{"messages":[{"role":"user","content":"Hello"}]}'`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := cli.From(cmd)
			if q.Model == "" {
				fmt.Fprintln(env.Err, cmd.UsageString())
				return verdict.Usagef("which model? Give its file with -m")
			}
			if c.Port < 0 || c.Port > 65535 {
				return verdict.Usagef("--port %d: give a number from 1 to 65535, or 0 for any free port", c.Port)
			}
			if c.Restart < 0 {
				return verdict.Usagef("--restart-backend %d: give how often, or 0 for never", c.Restart)
			}
			if c.ReadyLimit <= 0 || c.DrainLimit < 0 {
				return verdict.Usagef("--ready-timeout %v, --drain-timeout %v: give times such as 30s; only a drain may be 0", c.ReadyLimit, c.DrainLimit)
			}
			if c.DrainLimit == 0 {
				c.DrainLimit = 1 // to package serve, 0 is its own limit
			}
			var err error
			if c.Request, err = q.read(cmd); err != nil {
				return err
			}
			c.Machine = route.ThisHost()
			if dry {
				return dryRun(cmd, c.Request, c.Machine)
			}
			c.System = serve.FromEnvironment(os.LookupEnv, os.Getpid())
			c.Log = env.Err
			c.Note = func(note string) { env.Notef("1bit serve: %s", note) }
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
	q.add(cmd)
	f := cmd.Flags()
	f.IntVarP(&c.Port, "port", "p", 8000, "`port` to listen on; 0 for any free one")
	f.StringVar(&c.Host, "host", "127.0.0.1", "`address` to listen on, or unix:PATH for a socket")
	f.StringVar(&c.Alias, "alias", "", "`name` of the model in answers (default: the file's name without .gguf)")
	f.IntVar(&c.Restart, "restart-backend", 0, "how often in a row a backend that ended is started again")
	f.DurationVar(&c.DrainLimit, "drain-timeout", serve.DrainLimit, "how long requests under way may take when serve is told to stop")
	f.DurationVar(&c.ReadyLimit, "ready-timeout", serve.ReadyLimit, "how long the model may load")
	f.BoolVar(&dry, "dry-run", false, "print the programs, their arguments and environment, and start nothing")
	f.DurationVar(&c.RestartMin, "restart-wait", time.Second, "how long to wait before the first restart")
	f.MarkHidden("restart-wait")
	return cmd
}
