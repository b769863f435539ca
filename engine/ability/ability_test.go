// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package ability

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/1bit-MONSTER/engine/internal/parts"
)

// helpNow is in the form of a llama-server of 2026, helpOld of one of 2025.
const helpNow = `----- common params -----

-c,    --ctx-size N                     size of the prompt context (default: 0, 0 = loaded from model)
                                        (env: LLAMA_ARG_CTX_SIZE)
-fa,   --flash-attn [on|off|auto]       set Flash Attention use ('on', 'off', or 'auto', default: 'auto')
-lm,   --load-mode MODE                 model loading mode (default: auto)
                                        - none: no special loading mode
--jinja, --no-jinja                     whether to use jinja template engine for chat (default: enabled)
-kvu,  --kv-unified, -no-kvu, --no-kv-unified
                                        use single unified KV buffer shared across all sequences (default:
                                        enabled if number of slots is auto)
--spec-type none,draft-simple,draft-mtp,draft-dflash
                                        comma-separated list of types of speculative decoding to use (default:
                                        none)
--spec-draft-n-max N                    number of tokens to draft for speculative decoding (default: 3)
--draft, --draft-n, --draft-max N       the argument has been removed. use --spec-draft-n-max or
                                        --spec-ngram-mod-n-max
--rerank, --reranking                   enable reranking endpoint on server (default: disabled)
`

const helpOld = `usage: llama-server [options]

-c,    --ctx-size N              size of the prompt context (default: 4096)
-fa,   --flash-attn              enable Flash Attention (default: disabled)
--no-mmap                        do not memory-map model
--jinja                          use jinja template for chat (default: disabled)
--draft-max, --draft, --draft-n N
                                 number of tokens to draft for speculative decoding (default: 16)
--reranking, --rerank            enable reranking endpoint on server (default: disabled)
`

func program(help string) Program {
	return Program{Path: "/opt/x/llama-server", Flags: parseHelp(help), FlagsKnown: true}
}

func TestParseHelp(t *testing.T) {
	want := []Flag{
		{Names: []string{"-c", "--ctx-size"}, Value: "N"},
		{Names: []string{"-fa", "--flash-attn"}, Value: "[on|off|auto]", Values: []string{"on", "off", "auto"}},
		{Names: []string{"-lm", "--load-mode"}, Value: "MODE"},
		{Names: []string{"--jinja", "--no-jinja"}},
		{Names: []string{"-kvu", "--kv-unified", "-no-kvu", "--no-kv-unified"}},
		{Names: []string{"--spec-type"}, Value: "none,draft-simple,draft-mtp,draft-dflash", Values: []string{"none", "draft-simple", "draft-mtp", "draft-dflash"}},
		{Names: []string{"--spec-draft-n-max"}, Value: "N"},
		{Names: []string{"--rerank", "--reranking"}},
	}
	if d := cmp.Diff(want, parseHelp(helpNow)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got := parseHelp("no help at all\n  -x\n"); got != nil {
		t.Errorf("%v", got)
	}
}

func TestSpell(t *testing.T) {
	for _, c := range []struct {
		name, help, in, want, err string
	}{
		{"as it is", helpNow, "-c 5 -fa auto --jinja -kvu --load-mode mmap", "-c 5 -fa auto --jinja -kvu --load-mode mmap", ""},
		{"unknown help", "", "-c 5 --anything", "-c 5 --anything", ""},
		{"flash attention as a switch", helpOld, "-fa on --jinja", "-fa --jinja", ""},
		{"switched off", helpOld, "-fa off --jinja", "--jinja", ""},
		{"auto is more than a switch", helpOld, "-fa auto", "", "does not know -fa auto, only -fa (on), no -fa (off)"},
		{"older name", helpOld, "--spec-draft-n-max 5", "--draft-max 5", ""},
		{"name that was removed", helpNow, "--draft-max 5", "", "does not know --draft-max"},
		{"mapping was the default", helpOld, "--load-mode mmap --jinja", "--jinja", ""},
		{"both spellings", helpOld, "-kvu", "", "knows neither -kvu nor --kv-unified"},
		{"draft type", helpNow, "--spec-type draft-dflash", "--spec-type draft-dflash", ""},
		{"unknown draft type", helpNow, "--spec-type eagle", "", "does not know --spec-type eagle, only none, draft-simple, draft-mtp, draft-dflash"},
		{"no drafts", helpOld, "--spec-type draft-mtp", "", "does not know --spec-type"},
		{"value like a flag", helpNow, "-c --jinja", "-c --jinja", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := program(c.help)
			p.FlagsKnown = c.help != ""
			got, err := p.Spell(strings.Fields(c.in))
			var lacks *Lacks
			switch {
			case c.err == "" && err != nil, c.err != "" && (!errors.As(err, &lacks) || !strings.Contains(err.Error(), c.err)):
				t.Errorf("error %v, want %q", err, c.err)
			case c.err == "" && strings.Join(got, " ") != c.want:
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSameFlag(t *testing.T) {
	if !SameFlag("-fa", "--flash-attn") || !SameFlag("--draft", "--spec-draft-n-max") || !SameFlag("-x", "-x") || SameFlag("-c", "-fa") {
		t.Error("wrong")
	}
}

func TestParseDevices(t *testing.T) {
	halo := Device{"Vulkan0", "AMD Radeon 8060S Graphics (RADV STRIX_HALO)", 86016, 83633, false}
	soft := Device{"Vulkan0", "llvmpipe (LLVM 21.1.8, 256 bits)", 24105, 24000, true}
	for _, c := range []struct {
		name, text string
		want       []Device
		ok         bool
	}{
		{"none", "Available devices:\n  (none)\n", nil, true},
		{"a software renderer", "Available devices:\n  Vulkan0: llvmpipe (LLVM 21.1.8, 256 bits) (24105 MiB, 24000 MiB free)\n", []Device{soft}, true},
		{"Strix Halo", "Available devices:\n  Vulkan0: AMD Radeon 8060S Graphics (RADV STRIX_HALO) (86016 MiB, 83633 MiB free)\n", []Device{halo}, true},
		{"two back-ends, Windows", "Available devices:\r\n  ROCm0: gfx1151 (1 MiB, 1 MiB free)\r\n  HRX0: x (1 MiB, 0 MiB free)\r\n", []Device{{"ROCm0", "gfx1151", 1, 1, false}, {"HRX0", "x", 1, 0, false}}, true},
		{"text for a terminal", "Available devices:\n  Vulkan0: a\x1b[31mb (1 MiB, 1 MiB free)\n", []Device{{"Vulkan0", "ab", 1, 1, false}}, true},
		{"chatter", "load_backend: loaded Vulkan0: x\n", nil, false},
	} {
		got, ok := parseDevices(c.text)
		if d := cmp.Diff(c.want, got); d != "" || ok != c.ok {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, ok, d)
		}
	}
}

// TestCache: a program is asked once, and again when it, what lies beside it or
// a variable that it reads changes.
func TestCache(t *testing.T) {
	dir := t.TempDir()
	path, log := filepath.Join(dir, "llama-server"), filepath.Join(t.TempDir(), "asked")
	write := func(device string) {
		t.Helper()
		script := "#!/bin/sh\necho $1 >>" + log + "\ncase $1 in\n--help) echo '-c N  context' ;;\n--version) echo 'version: 7 (x)' >&2 ;;\n--list-devices) echo 'Available devices:'; echo '  " + device + ": x (1 MiB, 1 MiB free)' ;;\nesac\n"
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	asked := func() int {
		b, _ := os.ReadFile(log)
		os.Remove(log)
		return strings.Count(string(b), "\n")
	}
	write("Vulkan0")
	cache := Cache{filepath.Join(t.TempDir(), "cache")}
	get := func(device string, questions int) {
		t.Helper()
		p, err := cache.Get(t.Context(), path)
		if err != nil || !p.FlagsKnown || p.Version != "7 (x)" {
			t.Fatalf("%+v, %v", p, err)
		}
		if _, ok := p.Device(device); !ok {
			t.Errorf("no %s in %v", device, p.Devices)
		}
		if n := asked(); n != questions {
			t.Errorf("asked %d times, want %d", n, questions)
		}
	}
	get("Vulkan0", 3)
	get("Vulkan0", 0)
	write("ROCm10")
	get("ROCm10", 3)
	t.Setenv("GGML_VK_VISIBLE_DEVICES", "0")
	get("ROCm10", 3)
	get("ROCm10", 0)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if p, err := cache.Get(t.Context(), path); err != nil || p.FlagsKnown || p.DevicesKnown {
		t.Errorf("a program that is gone: %+v, %v", p, err)
	}
}

// TestHostilePrograms: what a program prints costs a known amount of memory and
// time, and does nothing to a terminal.
func TestHostilePrograms(t *testing.T) {
	ask := func(script string) Program {
		t.Helper()
		path := filepath.Join(t.TempDir(), "llama-server")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
		p, err := Ask(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := ask(`case $1 in
--help) echo '-x N   text'; yes '      and more of it' | head -c 200000000 ;;
--list-devices) echo 'Available devices:'; seq 100000 | sed 's/.*/  Vulkan&: x (1 MiB, 1 MiB free)/' ;;
esac`)
	if len(p.Flags) != 1 || len(p.Devices) != mostDevices {
		t.Errorf("%d flags, %d devices", len(p.Flags), len(p.Devices))
	}
	p = ask(`printf -- '-fa [\033[31mon|off]   x\n'`)
	if _, err := p.Spell([]string{"-fa", "auto"}); err == nil || strings.ContainsRune(err.Error(), '\x1b') || !strings.Contains(err.Error(), "only on, off") {
		t.Errorf("%q", err)
	}
}

// TestRealLlamaServer: every flag that a route passes is known to a real one.
func TestRealLlamaServer(t *testing.T) {
	p, err := Ask(t.Context(), parts.Need(t, "llama-server").Path)
	if err != nil || !p.FlagsKnown || !p.DevicesKnown || p.Version == "" {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, s := range spellings {
		if _, _, ok := p.find(s); !ok {
			t.Errorf("%s: not in its --help", s.flag)
		}
	}
	if got, err := p.Spell([]string{"--spec-type", "draft-dflash", "-fa", "auto", "--load-mode", "mmap"}); err != nil || len(got) != 6 {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzHelp: whatever a program prints, it is read without a panic, and what is
// read can be asked for.
func FuzzHelp(f *testing.F) {
	for _, s := range []string{helpNow, helpOld, "-", "--", "-a,", "-a, -b", "-x  [a|b", "--x\n   removed", "Available devices:\n  V0: a (1 MiB, 2 MiB free)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := Program{Flags: parseHelp(text), FlagsKnown: true}
		for _, flag := range p.Flags {
			for _, n := range flag.Names {
				if _, ok := p.Flag(n); !ok || !strings.HasPrefix(n, "-") {
					t.Fatalf("flag %q", n)
				}
			}
		}
		p.Spell([]string{"-fa", "on", "--jinja", "-c"})
		parseDevices(text)
		parseVersion(text)
	})
}
