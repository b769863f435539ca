// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"strings"
	"testing"

	"github.com/1bit-MONSTER/engine/engine/devices"
	"github.com/1bit-MONSTER/engine/engine/gguf/gguftest"
)

// TestTheStampDecides: a rotated model goes to the lean ROCm build by itself,
// and nowhere else.
func TestTheStampDecides(t *testing.T) {
	h := halo(t, nil)
	for _, value := range []any{int32(32), uint8(32), int8(32), uint16(32), uint32(32), int64(32), uint64(32)} {
		path := write(t, gguftest.KV{Key: rotatedKey, Value: value})
		for _, d := range []devices.Name{devices.Auto, devices.ROCm} {
			p := one(t, Request{Model: path, Device: d}, h)
			if p.Device != devices.ROCm || !strings.HasSuffix(p.Program, "lean/llama-rocm/bin/llama-server") || strings.Join(p.Env, " ") != "GGML_Q4_0_HADAMARD=1 GGML_W4A4_TENSORS=all" {
				t.Errorf("%T on %s: %+v", value, d, p)
			}
		}
		for _, d := range []devices.Name{devices.NPU, devices.Vulkan, devices.HRX, devices.ZINC, devices.CPU} {
			wantRefused(t, Request{Model: path, Device: d}, h, "--device "+string(d)+": ", "is Hadamard-rotated: only the lean ROCm build", "use --device rocm or auto")
		}
	}
}

func TestUnknownStamps(t *testing.T) {
	h := halo(t, nil)
	for _, c := range []struct {
		value any
		want  string
	}{
		{int32(64), "onebit.hadamard_q4_0 = 64; only 32 is known"},
		{int32(0), "onebit.hadamard_q4_0 = 0; only 32 is known"},
		{int64(-32), "onebit.hadamard_q4_0 = -32; only 32 is known"},
		{"32", "no integer"},
		{float32(32), "no integer"},
		{true, "no integer"},
	} {
		path := write(t, gguftest.KV{Key: rotatedKey, Value: c.value})
		for _, d := range []devices.Name{devices.Auto, devices.Vulkan, devices.HRX, devices.ROCm, devices.ZINC, devices.NPU, devices.CPU} {
			wantRefused(t, Request{Model: path, Device: d}, h, c.want)
		}
	}
}

// TestRotatedDrafters: one for a model that is not rotated gives noise.
func TestRotatedDrafters(t *testing.T) {
	h, plain, turned := halo(t, nil), write(t), write(t, rotated)
	for _, d := range []devices.Name{devices.Vulkan, devices.HRX, devices.ROCm, devices.CPU} {
		wantRefused(t, Request{Model: plain, Device: d, MTP: turned}, h, "--mtp: ", "is Hadamard-rotated and "+plain+" is not")
	}
	odd := write(t, gguftest.KV{Key: rotatedKey, Value: int32(64)})
	wantRefused(t, Request{Model: plain, Device: devices.Vulkan, DFlash: odd}, h, "--dflash: ", "only 32 is known")
	if p := one(t, Request{Model: turned, Device: devices.Auto, DFlash: turned}, h); p.Device != devices.ROCm {
		t.Errorf("%+v", p)
	}
}

// TestRotatedModelsNeedTheLeanBuild: any llama-server of PATH would run one,
// and give noise.
func TestRotatedModelsNeedTheLeanBuild(t *testing.T) {
	path := write(t, rotated)
	h := host(nil, "ROCm0")
	server := writeProgram(t, t.TempDir()+"/llama-server")
	h.LookPath = func(string) (string, error) { return server, nil }
	wantRefused(t, Request{Model: path, Device: devices.Auto}, h, "--device rocm: not in this build", "the component lean-rocm", "ONEBIT_LEAN_SERVER")
	if p := one(t, Request{Model: write(t), Device: devices.ROCm}, h); p.Program != server || len(p.Env) != 0 {
		t.Errorf("a plain model: %+v", p)
	}
	h.Getenv = host(map[string]string{"ONEBIT_LEAN_SERVER": server}).Getenv
	if p := one(t, Request{Model: path, Device: devices.Auto}, h); p.Program != server {
		t.Errorf("%+v", p)
	}
}

func TestPrismModels(t *testing.T) {
	h := halo(t, nil)
	for _, kv := range []gguftest.KV{{Key: prismKey, Value: uint32(1)}, {Key: "general.file_type", Value: uint32(129)}, {Key: "general.file_type", Value: int32(143)}} {
		path := write(t, kv)
		if p := one(t, Request{Model: path, Device: devices.Auto}, h); p.Device != devices.HRX {
			t.Errorf("%v: %s", kv, p.Device)
		}
		for _, d := range []devices.Name{devices.Vulkan, devices.ROCm, devices.ZINC, devices.CPU} {
			wantRefused(t, Request{Model: path, Device: d}, h, "ternary model of PrismML", "--device hrx")
		}
	}
}

func TestModels(t *testing.T) {
	h := halo(t, nil)
	dir := t.TempDir()
	folder := dir + "/npu-model"
	writeProgram(t, folder+"/model.q4nx")
	writeProgram(t, folder+"/npu/x")
	if p := one(t, Request{Model: folder, Device: devices.Auto}, h); p.Device != devices.NPU || p.Args[1] != folder {
		t.Errorf("%+v", p)
	}
	wantRefused(t, Request{Model: folder, Device: devices.Vulkan}, h, "is no GGUF file; a folder for the NPU takes --device npu or auto")
	onnx := dir + "/onnx"
	writeProgram(t, onnx+"/genai_config.json")
	wantRefused(t, Request{Model: onnx, Device: devices.Auto}, h, "not in this build", "ONNX")
	wantRefused(t, Request{Model: dir, Device: devices.Auto}, h, "is a directory, not a GGUF file")
	bp := gguftest.File{}.Write(t, dir+"/x.1bp")
	writeText(t, bp, "1BP\x00rest")
	wantRefused(t, Request{Model: bp, Device: devices.Auto}, h, "--device ds4, which is not in this build")
	p := one(t, Request{Model: "owner/name", Device: devices.MLX}, h)
	if p.Rename.To != "owner/name" || p.PortAt != 2 {
		t.Errorf("%+v", p)
	}
	for _, bad := range []string{"name", "-x/y", "/abs/path", "a/b/c", "../x"} {
		wantRefused(t, Request{Model: bad, Device: devices.MLX}, h, "takes the id of a model")
	}
	if p := one(t, Request{Model: write(t), Device: devices.ZINC}, h); !p.Rename.Drop || len(p.Forward) != 2 {
		t.Errorf("%+v", p)
	}
}
