// Copyright 2026 The 1bit engine authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"time"
)

// AlarmAfter is how long upstream may be ahead of a pin, where the policy does not
// say, before that is an alarm of its own, whatever the reason: a bump job that fails unnoticed for five
// days looks the same as one that has nothing to do.
const AlarmAfter = 3 * 24 * time.Hour

// An Alarm says that a group has been behind for too long.
type Alarm struct {
	Since time.Time `json:"since"` // when upstream moved, as we first saw it
	Text  string    `json:"text"`
}

// Overdue returns the alarm of a group that is behind since the given time, after
// so long; nil where there is none. behindSince is when we first saw any version newer than
// the one on main: one that is newer still does not begin it anew. Zero says
// that the group is not behind. A time in the future is no alarm: some clock was
// wrong.
func Overdue(behindSince, now time.Time, after time.Duration) *Alarm {
	if behindSince.IsZero() {
		return nil
	}
	behind := now.Sub(behindSince)
	if behind < after {
		return nil
	}
	return &Alarm{
		Since: behindSince.UTC(),
		Text:  fmt.Sprintf("upstream moved %s and the pin has not", ago(behind)),
	}
}

// Unseen returns the alarm of a group of which no night could tell what is
// newest since the given time: an upstream that nobody sees may have moved.
// Zero says that the last night could.
func Unseen(since, now time.Time, after time.Duration) *Alarm {
	if since.IsZero() || now.Sub(since) < after {
		return nil
	}
	return &Alarm{Since: since.UTC(), Text: fmt.Sprintf("the first night that could not tell what is newest was %s, and none could since", ago(now.Sub(since)))}
}

// ago says how long something is past, as exact as people care.
func ago(d time.Duration) string {
	hours := int(d / time.Hour)
	switch {
	case d < 0:
		return "in the future"
	case hours < 1:
		return "less than an hour ago"
	case hours == 1:
		return "an hour ago"
	case hours < 48:
		return fmt.Sprintf("%d hours ago", hours)
	}
	return fmt.Sprintf("%d days ago", hours/24)
}
