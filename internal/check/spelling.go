package check

import (
	"strconv"
	"strings"
)

func quoted(text string) string { return strconv.Quote(text) }

// nearest is the hint for a name that is none: the one it was probably meant to be.
func nearest(name string, names []string) string {
	if near := similar(name, names); near != "" {
		return "write " + near
	}
	return ""
}

// similar is the name that differs least, "" where none is near.
func similar(name string, names []string) (best string) {
	least := min(2, (len(name)-1)/2) + 1
	for _, n := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(n)); d < least && n != name {
			best, least = n, d
		}
	}
	return best
}

// distance is how many letters have to be changed, added, taken away or swapped
// with the next.
func distance(a, b string) int {
	before, last, now := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, make([]int, len(b)+1)
	}
	return last[len(b)]
}
