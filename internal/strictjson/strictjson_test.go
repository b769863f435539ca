// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package strictjson

import "testing"

func TestDecode(t *testing.T) {
	type file struct {
		Name string `json:"name"`
	}
	for _, c := range []struct {
		name, data string
		ok         bool
	}{
		{"as written", "{\n  \"name\": \"x\"\n}\n", true},
		{"unknown field", `{"name": "x", "more": 1}`, false},
		{"two values", `{"name": "x"} {}`, false},
		{"a bracket after its end", `{"name": "x"}}`, false},
		{"text after its end", `{"name": "x"} x`, false},
		{"cut off", `{"name": "x"`, false},
		{"empty", ``, false},
	} {
		var f file
		if err := Decode([]byte(c.data), &f); (err == nil) != c.ok || c.ok && f.Name != "x" {
			t.Errorf("%s: %+v, %v", c.name, f, err)
		}
	}
	data, err := Encode(file{"x"})
	if err != nil || string(data) != "{\n  \"name\": \"x\"\n}\n" {
		t.Errorf("encoded: %q, %v", data, err)
	}
}
