package new_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serveAPI stands in for the API. The query chooses the answer.
func serveAPI(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query().Get("q")
		if r.URL.Path != "/search/repositories" || r.Header.Get("Authorization") != "Bearer k3y" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		switch query {
		case "moved":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "refused":
			http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
		case "often":
			w.WriteHeader(http.StatusTooManyRequests)
		case "broken":
			http.Error(w, `{"message":"It is all our fault"}`, http.StatusInternalServerError)
		case "html":
			fmt.Fprint(w, "<html>")
		case "none":
			fmt.Fprint(w, `{"items":[]}`)
		case "long":
			fmt.Fprint(w, strings.Repeat("x", 1<<20))
		default:
			fmt.Fprintf(w, `{"items":[{"full_name":%q,"stargazers_count":%s,"description":null}]}`, query, r.URL.Query().Get("per_page"))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestWhatAnAPIMaySay(t *testing.T) {
	w := newWorkplace(t)
	w.do("", "conch new --template api mine")
	w.env = append(w.env, "API_KEY=k3y", "API_URL="+serveAPI(t))
	for _, test := range []struct {
		query  string
		failed bool
		want   []string
	}{
		{"a b&per_page=1 c:d/é", false, []string{"a b&per_page=1 c:d/é\t5\t"}},
		{"@/etc/passwd", false, []string{"@/etc/passwd\t5\t"}},
		{"none", false, []string{"There is none."}},
		{"moved", true, []string{"The API has moved (302)", "API_URL"}},
		{"refused", true, []string{"refuses the key", "API_KEY", "Bad credentials"}},
		{"often", true, []string{"too many requests"}},
		{"broken", true, []string{"500", "It is all our fault"}},
		{"html", true, []string{"something other than what was expected"}},
		{"long", true, []string{"more than 1000 KiB"}},
	} {
		said, failed := w.run("mine", "conch call server.sh search_repositories query='"+test.query+"'")
		if failed != test.failed {
			t.Errorf("%s: failed: %v\n%s", test.query, failed, said)
		}
		for _, want := range test.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %q in %s", test.query, want, said)
			}
		}
		if strings.Contains(said, "k3y") {
			t.Errorf("%s: the key is in %s", test.query, said)
		}
	}
}

func TestAnAPIThatIsNotThere(t *testing.T) {
	w := newWorkplace(t)
	w.do("", "conch new --template api mine")
	w.env = append(w.env, "API_URL=http://127.0.0.1:1")
	said, failed := w.run("mine", "API_KEY=k3y conch call server.sh search_repositories query=x")
	if !failed || !strings.Contains(said, "Failed to connect") && !strings.Contains(said, "Could not connect") {
		t.Errorf("failed: %v, %s", failed, said)
	}
	said, failed = w.run("mine", "conch call server.sh search_repositories query=x")
	if !failed || !strings.Contains(said, "API_KEY") {
		t.Errorf("without a key: failed: %v, %s", failed, said)
	}
}
