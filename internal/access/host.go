package access

import (
	"net/netip"
	"strconv"
	"strings"
)

// splitHost takes what a Host header or the authority of a URL holds apart. A
// name is made lower case and loses the dot of the root, an IPv6 address loses
// its brackets, and both an address and a port get their usual form.
func splitHost(text string) (host, port string, ok bool) {
	if rest, bracketed := strings.CutPrefix(text, "["); bracketed {
		address, rest, closed := strings.Cut(rest, "]")
		addr, err := netip.ParseAddr(address)
		if !closed || err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", "", false
		}
		port, ok = splitPort(rest)
		return addr.String(), port, ok
	}
	name, rest := text, ""
	if colon := strings.IndexByte(text, ':'); colon >= 0 {
		name, rest = text[:colon], text[colon:]
	}
	port, ok = splitPort(rest)
	name, dotted := strings.CutSuffix(strings.ToLower(name), ".")
	// Some take an address with a dot behind it for a name.
	_, err := netip.ParseAddr(name)
	return name, port, ok && isName(name) && !(dotted && err == nil)
}

// splitPort reads what is behind a host: nothing, or a colon and a port.
func splitPort(text string) (port string, ok bool) {
	if text == "" {
		return "", true
	}
	digits, colon := strings.CutPrefix(text, ":")
	number, err := strconv.ParseUint(digits, 10, 16)
	return strconv.FormatUint(number, 10), colon && err == nil
}

func isName(text string) bool {
	for _, c := range []byte(text) {
		if !isAlphanumeric(c) && !strings.ContainsRune("-._", rune(c)) {
			return false
		}
	}
	return text != ""
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// isLoopback takes a host as splitHost returns it. Other names may lead to this
// machine as well, but whoever owns one may change his mind.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
