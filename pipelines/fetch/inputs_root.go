// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"os"
	"sync"
)

// A onceRoot is a folder that is opened by the first who needs it.
type onceRoot struct {
	once sync.Once
	root *os.Root
	err  error
}

func (o *onceRoot) open(f func() (*os.Root, error)) (*os.Root, error) {
	o.once.Do(func() { o.root, o.err = f() })
	return o.root, o.err
}

func (o *onceRoot) close() {
	if o.root != nil {
		o.root.Close()
	}
}
