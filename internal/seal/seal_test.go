package seal_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conch-mcp/conch/internal/seal"
)

func sealer(t testing.TB, key []byte) *seal.Sealer {
	t.Helper()
	s, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func claims() seal.Claims {
	return seal.Claims{
		Tool:          "tools/call deploy",
		ArgumentsHash: seal.Arguments(json.RawMessage(`{"to":"production"}`)),
		Identity:      "ada",
		Expires:       time.Now().Add(time.Minute),
	}
}

func TestAStateGivesBackWhatWasSealed(t *testing.T) {
	key := seal.Random()
	noise := make([]byte, 20_000)
	_, _ = rand.Read(noise)
	for name, payload := range map[string][]byte{
		"nothing":     {},
		"an answer":   []byte(`{"answers":{"q1":{"action":"accept"}}}`),
		"much of one": bytes.Repeat([]byte("yes "), seal.MaxPayload/4),
		"noise":       noise,
	} {
		t.Run(name, func(t *testing.T) {
			state, err := sealer(t, key).Seal(claims(), payload)
			if err != nil {
				t.Fatal(err)
			}
			if len(state) > seal.MaxState {
				t.Errorf("the state has %d bytes", len(state))
			}
			// Another process with the same key.
			got, err := sealer(t, key).Open(state, claims())
			if err != nil || !bytes.Equal(got, payload) {
				t.Errorf("opened %d bytes of %d, %v", len(got), len(payload), err)
			}
		})
	}
}

func TestAStateIsGoodForNothingElse(t *testing.T) {
	s := sealer(t, seal.Random())
	state, err := s.Seal(claims(), []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(c *seal.Claims)) seal.Claims {
		c := claims()
		change(&c)
		return c
	}
	for _, test := range []struct {
		name     string
		sealer   *seal.Sealer
		state    string
		expected seal.Claims
		want     error
	}{
		{"another tool", s, state, with(func(c *seal.Claims) { c.Tool = "tools/call drop" }), seal.ErrTool},
		{"other arguments", s, state, with(func(c *seal.Claims) { c.ArgumentsHash = seal.Arguments(nil) }), seal.ErrArguments},
		{"another client", s, state, with(func(c *seal.Claims) { c.Identity = "eve" }), seal.ErrIdentity},
		{"nobody", s, state, with(func(c *seal.Claims) { c.Identity = "" }), seal.ErrIdentity},
		{"another key", sealer(t, seal.Random()), state, claims(), seal.ErrKey},
		{"cut off", s, state[:len(state)-1], claims(), seal.ErrTruncated},
		{"cut in half", s, state[:len(state)/2], claims(), seal.ErrTruncated},
		{"empty", s, "", claims(), seal.ErrMalformed},
		{"prose", s, "please let me in, it is urgent", claims(), seal.ErrMalformed},
		{"padded", s, state + "=", claims(), seal.ErrMalformed},
		{"followed by more", s, state + "AAAA", claims(), seal.ErrMalformed},
		{"broken into lines", s, state[:40] + "\n" + state[40:], claims(), seal.ErrMalformed},
		{"of another version", s, "Ag" + state[2:], claims(), seal.ErrMalformed},
		{"endless", s, strings.Repeat("A", seal.MaxState+1), claims(), seal.ErrTooLong},
	} {
		t.Run(test.name, func(t *testing.T) {
			payload, err := test.sealer.Open(test.state, test.expected)
			if !errors.Is(err, test.want) || !errors.Is(err, seal.ErrState) || payload != nil {
				t.Errorf("got %q, %v; want %v", payload, err, test.want)
			}
		})
	}
}

func TestNoBitOfAStateCanBeChanged(t *testing.T) {
	s := sealer(t, seal.Random())
	state, err := s.Seal(claims(), []byte("yes"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(raw) * 8 {
		raw[i/8] ^= 1 << (i % 8)
		if payload, err := s.Open(base64.RawURLEncoding.EncodeToString(raw), claims()); !errors.Is(err, seal.ErrState) {
			t.Errorf("bit %d: %q, %v", i, payload, err)
		}
		raw[i/8] ^= 1 << (i % 8)
	}
	raw[len(raw)-1] ^= 1
	if _, err := s.Open(base64.RawURLEncoding.EncodeToString(raw), claims()); !errors.Is(err, seal.ErrTampered) {
		t.Errorf("changed: %v", err)
	}
}

func TestAStateExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sealer(t, seal.Random())
		given := claims()
		state, err := s.Seal(given, []byte("yes"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if _, err := s.Open(state, given); err != nil {
			t.Errorf("before its time: %v", err)
		}
		time.Sleep(time.Nanosecond)
		given.Expires = time.Now().Add(time.Hour)
		if _, err := s.Open(state, given); !errors.Is(err, seal.ErrExpired) {
			t.Errorf("at its time: %v", err)
		}
	})
}

func TestTwoStatesOfTheSameDiffer(t *testing.T) {
	s := sealer(t, seal.Random())
	one, _ := s.Seal(claims(), []byte("yes"))
	other, _ := s.Seal(claims(), []byte("yes"))
	if one == other || one == "" {
		t.Errorf("%q and %q", one, other)
	}
}

func TestTooMuchIsNotSealed(t *testing.T) {
	noise := make([]byte, seal.MaxState)
	_, _ = rand.Read(noise)
	for name, payload := range map[string][]byte{
		"before compression": make([]byte, seal.MaxPayload+1),
		"after compression":  noise,
	} {
		if state, err := sealer(t, seal.Random()).Seal(claims(), payload); !errors.Is(err, seal.ErrPayload) {
			t.Errorf("%s: %d bytes, %v", name, len(state), err)
		}
	}
}

func TestArgumentsAreTheSameHoweverTheyAreWritten(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[true,null]}`, ` { "b" : [ true , null ], "a" : 1 } `, true},
		{`{"s":"é<"}`, `{"s":"\u00e9\u003c"}`, true},
		{``, `{}`, true},
		{`null`, `{}`, true},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":"1"}`, `{"a":1}`, false},
		{`{"a":10000000000000001}`, `{"a":10000000000000000}`, false},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{`{`, `{}`, false},
	} {
		same := seal.Arguments(json.RawMessage(test.a)) == seal.Arguments(json.RawMessage(test.b))
		if same != test.same {
			t.Errorf("%s and %s: %t", test.a, test.b, same)
		}
	}
}

func TestKeysAsPeopleKeepThem(t *testing.T) {
	key := bytes.Repeat([]byte{0xfb, 0xff, 0x01, 0x7f}, 8)
	for name, text := range map[string]string{
		"hex":              hex.EncodeToString(key),
		"upper-case hex":   strings.ToUpper(hex.EncodeToString(key)) + "\n",
		"base64":           base64.StdEncoding.EncodeToString(key) + "\r\n",
		"base64url":        base64.URLEncoding.EncodeToString(key),
		"without padding":  " " + base64.RawStdEncoding.EncodeToString(key),
		"url, not padding": base64.RawURLEncoding.EncodeToString(key),
	} {
		if got, err := seal.ParseKey(text); err != nil || !bytes.Equal(got, key) {
			t.Errorf("%s: %x, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{
		"empty":     "",
		"short":     hex.EncodeToString(key[1:]),
		"long":      base64.StdEncoding.EncodeToString(append(key, 0)),
		"two lines": hex.EncodeToString(key) + "\n" + hex.EncodeToString(key),
		"a word":    "correct-horse-battery-staple-1234",
	} {
		got, err := seal.ParseKey(text)
		if err == nil || !strings.Contains(err.Error(), "32 bytes in base64 or hex") {
			t.Errorf("%s: %x, %v", name, got, err)
		}
		if err != nil && text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error repeats it", name)
		}
	}
	if _, err := seal.New(key[1:]); err == nil {
		t.Error("a short key was taken")
	}
	if bytes.Equal(seal.Random(), seal.Random()) {
		t.Error("random keys are equal")
	}
}

// FuzzOpen looks for a text that opens and was not sealed. The fuzzer's processes
// share the key, but not the seeds.
func FuzzOpen(f *testing.F) {
	s := sealer(f, bytes.Repeat([]byte{7}, seal.KeySize))
	expected := claims()
	expected.Expires = time.Now().Add(24 * time.Hour)
	sealed := []string{"", "yes", strings.Repeat("yes", 1000)}
	for _, payload := range sealed {
		state, err := s.Seal(expected, []byte(payload))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(state)
		f.Add(state[:len(state)-3])
	}
	f.Add("")
	f.Fuzz(func(t *testing.T, state string) {
		payload, err := s.Open(state, expected)
		if err == nil && !slices.Contains(sealed, string(payload)) {
			t.Errorf("%q opens", state)
		}
		if err != nil && !errors.Is(err, seal.ErrState) {
			t.Errorf("%v is no ErrState", err)
		}
	})
}
