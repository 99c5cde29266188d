package subscription

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/internal/message"
)

const deadline = 20 * time.Second

var errNone = errors.New("there is none")

// stage is a hub for a server that tells of tools and resources, with the
// resources a:1 to a:2000.
type stage struct {
	t *testing.T
	*Hub
	find    func(uri string) (file string, ok bool)
	watched []string
}

// inA finds the resources, each in a file of its own.
func inA(uri string) (file string, ok bool) {
	if !strings.HasPrefix(uri, "a:") {
		return "", false
	}
	return "/" + uri, true
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, find: inA}
	s.Hub = NewHub(Options{
		Tells:      func(list string) bool { return list != Prompts },
		Subscribes: func() bool { return true },
		Find:       func(uri string) (string, bool) { return s.find(uri) },
		NotFound:   func(string) error { return errNone },
		ServerInfo: func() json.RawMessage { return json.RawMessage(`{"name":"s","version":"1"}`) },
		Subscribed: func(files []string) { s.watched = files },
	})
	return s
}

// ear is what one client hears.
type ear struct {
	t      *testing.T
	heard  chan string
	ended  chan string
	cancel context.CancelFunc
	end    chan struct{}
}

func (e *ear) tell(method string, params json.RawMessage) {
	e.heard <- strings.TrimPrefix(method, "notifications/") + " " + string(params)
}

func (e *ear) next() string {
	e.t.Helper()
	select {
	case text := <-e.heard:
		return text
	case <-time.After(deadline):
		e.t.Fatal("nothing is heard")
		return ""
	}
}

func (e *ear) hears(want ...string) {
	e.t.Helper()
	for _, w := range want {
		if got := e.next(); got != w {
			e.t.Errorf("heard %s\nwant  %s", got, w)
		}
	}
}

func newEar(t *testing.T) *ear {
	e := &ear{t: t, heard: make(chan string, 100), ended: make(chan string, 1), end: make(chan struct{})}
	return e
}

// listen listens under an id, and returns once it is acknowledged.
func (s *stage) listen(id, filter, acknowledged string) *ear {
	s.t.Helper()
	e := newEar(s.t)
	parsed, _ := message.ParseID(json.RawMessage(id))
	var ctx context.Context
	ctx, e.cancel = context.WithCancel(s.t.Context())
	go func() {
		result, err := s.Listen(ctx, Listening{ID: parsed, Params: json.RawMessage(`{"notifications":` + filter + `}`), Tell: e.tell, End: e.end})
		e.ended <- fmt.Sprint(string(result), " ", err)
	}()
	e.hears(fmt.Sprintf(`subscriptions/acknowledged {"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":%s}`, id, acknowledged))
	return e
}

func (e *ear) over(want string) {
	e.t.Helper()
	select {
	case got := <-e.ended:
		if got != want {
			e.t.Errorf("it ended with %s\nwant %s", got, want)
		}
	case <-time.After(deadline):
		e.t.Fatal("it does not end")
	}
}

func TestEachListenerHearsWhatItAskedForUnderItsID(t *testing.T) {
	s := newStage(t)
	const big = `123456789012345678901234567890`
	one := s.listen(big, `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":false}`, `{"toolsListChanged":true}`)
	two := s.listen(`"x"`, `{"resourcesListChanged":true,"resourceSubscriptions":["a:1","b:1","a:1"],"other":7}`, `{"resourcesListChanged":true,"resourceSubscriptions":["a:1"]}`)
	none := s.listen(`1`, `{}`, `{}`)
	s.Updated("a:2")
	s.ListChanged(Prompts)
	s.Updated("a:1")
	s.ListChanged(Tools)
	s.ListChanged(Resources)
	one.hears(`tools/list_changed {"_meta":{"io.modelcontextprotocol/subscriptionId":` + big + `}}`)
	two.hears(`resources/updated {"_meta":{"io.modelcontextprotocol/subscriptionId":"x"},"uri":"a:1"}`,
		`resources/list_changed {"_meta":{"io.modelcontextprotocol/subscriptionId":"x"}}`)
	if want := []string{"a:1"}; !slices.Equal(s.URIs(), want) {
		t.Errorf("watched are %q", s.URIs())
	}
	two.cancel()
	two.over(" context canceled")
	close(one.end)
	one.over(`{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},"io.modelcontextprotocol/subscriptionId":` + big + `}} <nil>`)
	s.ListChanged(Tools)
	close(none.end)
	none.over(`{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},"io.modelcontextprotocol/subscriptionId":1}} <nil>`)
	if len(s.URIs()) > 0 || len(s.watched) > 0 || len(s.listeners) > 0 {
		t.Errorf("%q are still watched, %d listen", s.watched, len(s.listeners))
	}
	for _, e := range []*ear{one, two, none} {
		if len(e.heard) > 0 {
			t.Errorf("heard besides: %s", <-e.heard)
		}
	}
}

func TestWhatIsNoFilterIsRefused(t *testing.T) {
	s := newStage(t)
	id, _ := message.ParseID(json.RawMessage(`1`))
	many := `["` + strings.Repeat(`a:1","`, mostURIs) + `a:1"]`
	for _, params := range []string{`{}`, `{"notifications":[]}`, `{"notifications":null}`, `{"notifications":{"toolsListChanged":1}}`, `{"notifications":{"toolsListChanged":"true"}}`,
		`{"notifications":{"resourceSubscriptions":"a:1"}}`, `{"notifications":{"resourceSubscriptions":[1]}}`, `{"notifications":{"resourceSubscriptions":` + many + `}}`} {
		_, err := s.Listen(t.Context(), Listening{ID: id, Params: json.RawMessage(params), Tell: func(string, json.RawMessage) { t.Error("something is told") }})
		if err == nil || !strings.Contains(err.Error(), "Invalid params: ") {
			t.Errorf("%.100s: %v", params, err)
		}
	}
}

func TestTheURIsOfARequestAreBounded(t *testing.T) {
	s := newStage(t)
	id, _ := message.ParseID(json.RawMessage(`1`))
	long := "a:" + strings.Repeat("x", longestURI-2)
	for want, uris := range map[string][]string{"longer than 2048 bytes": {"a:1", long + "x"}, "more than 65536 bytes in all": append(slices.Repeat([]string{long}, 32), "a:1")} {
		text, _ := json.Marshal(uris)
		_, err := s.Listen(t.Context(), Listening{ID: id, Params: fmt.Appendf(nil, `{"notifications":{"resourceSubscriptions":%s}}`, text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	session := s.Join(t.Context(), newEar(t).tell)
	defer session.Leave()
	if _, err := session.Answer(MethodSubscribe, fmt.Appendf(nil, `{"uri":%q}`, long+"x")); err == nil {
		t.Error("a session takes what is too long")
	}
}

func TestNothingIsFoundForWhoHasLeft(t *testing.T) {
	s := newStage(t)
	ctx, leave := context.WithCancel(t.Context())
	times := 0
	s.find = func(uri string) (string, bool) {
		times++
		leave()
		return inA(uri)
	}
	id, _ := message.ParseID(json.RawMessage(`1`))
	_, err := s.Listen(ctx, Listening{ID: id, Params: json.RawMessage(`{"notifications":{"resourceSubscriptions":["a:1","a:2","a:3"]}}`)})
	if !errors.Is(err, context.Canceled) || times != 1 {
		t.Errorf("%v, %d URIs were looked at", err, times)
	}
}

func TestAResourceIsFoundOnceAndAgainWhenTheListChanges(t *testing.T) {
	s := newStage(t)
	file, times := "/one", 0
	s.find = func(string) (string, bool) {
		times++
		return file, true
	}
	e := newEar(t)
	session := s.Join(t.Context(), e.tell)
	defer session.Leave()
	for _, uri := range []string{"a:1", "a:2"} {
		if _, err := session.Answer(MethodSubscribe, fmt.Appendf(nil, `{"uri":%q}`, uri)); err != nil {
			t.Fatal(err)
		}
	}
	if times != 2 || !slices.Equal(s.watched, []string{"/one"}) {
		t.Errorf("two resources were looked for %d times, watched is %q", times, s.watched)
	}
	s.FileChanged("/two")
	s.FileChanged("/one")
	e.hears(`resources/updated {"uri":"a:1"}`, `resources/updated {"uri":"a:2"}`)
	file = "/two"
	s.Resubscribe()
	s.FileChanged("/one")
	if !slices.Equal(s.watched, []string{"/two"}) {
		t.Errorf("watched is %q", s.watched)
	}
	s.FileChanged("/two")
	e.hears(`resources/updated {"uri":"a:1"}`, `resources/updated {"uri":"a:2"}`)
}

// A list that changes between the finding and the subscription.
func TestWhatWasFoundBeforeAChangeIsFoundAgain(t *testing.T) {
	s := newStage(t)
	file := "/one"
	s.find = func(string) (string, bool) {
		found := file
		if file == "/one" {
			file = "/two"
			s.Resubscribe()
		}
		return found, true
	}
	e := newEar(t)
	session := s.Join(t.Context(), e.tell)
	defer session.Leave()
	if _, err := session.Answer(MethodSubscribe, json.RawMessage(`{"uri":"a:1"}`)); err != nil {
		t.Fatal(err)
	}
	s.FileChanged("/two")
	e.hears(`resources/updated {"uri":"a:1"}`)
}

func TestASessionHearsOfListsOnceItIsReadyAndOfItsResources(t *testing.T) {
	s := newStage(t)
	e := newEar(t)
	session := s.Join(t.Context(), e.tell)
	answer := func(method, params string) string {
		t.Helper()
		result, err := session.Answer(method, json.RawMessage(params))
		return fmt.Sprint(string(result), " ", err)
	}
	s.ListChanged(Tools)
	for _, tt := range []struct{ method, params, want string }{
		{MethodSubscribe, `{"uri":"a:1"}`, `{} <nil>`},
		{MethodSubscribe, `{"uri":"a:1"}`, `{} <nil>`},
		{MethodSubscribe, `{"uri":"b:1"}`, ` there is none`},
		{MethodUnsubscribe, `{"uri":"b:1"}`, `{} <nil>`},
	} {
		if got := answer(tt.method, tt.params); got != tt.want {
			t.Errorf("%s %s: %s", tt.method, tt.params, got)
		}
	}
	if got := answer(MethodSubscribe, `{"uri":7}`); !strings.Contains(got, "uri must be a string") {
		t.Errorf("got %s", got)
	}
	s.Updated("a:1")
	e.hears(`resources/updated {"uri":"a:1"}`)
	session.Ready()
	s.ListChanged(Prompts)
	s.ListChanged(Resources)
	e.hears(`resources/list_changed {}`)
	answer(MethodUnsubscribe, `{"uri":"a:1"}`)
	s.Updated("a:1")
	s.ListChanged(Tools)
	e.hears(`tools/list_changed {}`)
	session.Leave()
	session.Leave()
	s.ListChanged(Tools)
	if len(s.listeners) > 0 || len(e.heard) > 0 {
		t.Error("it still hears")
	}
}

func TestSubscriptionsAreBounded(t *testing.T) {
	s := newStage(t)
	session := s.Join(t.Context(), newEar(t).tell)
	defer session.Leave()
	for i := range mostURIs {
		if _, err := session.Answer(MethodSubscribe, fmt.Appendf(nil, `{"uri":"a:%d"}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := session.Answer(MethodSubscribe, json.RawMessage(`{"uri":"a:x"}`)); err == nil {
		t.Error("one more is taken")
	}
	if _, err := session.Answer(MethodSubscribe, json.RawMessage(`{"uri":"a:1"}`)); err != nil {
		t.Errorf("one that is there: %v", err)
	}
}

func TestNewsThatNobodyTakesInAreKeptOnce(t *testing.T) {
	s := newStage(t)
	e := newEar(t)
	gate := make(chan struct{})
	session := s.Join(t.Context(), func(method string, params json.RawMessage) {
		e.tell(method, params)
		<-gate
	})
	defer session.Leave()
	session.Ready()
	s.ListChanged(Tools)
	e.hears(`tools/list_changed {}`)
	for range 1000 {
		s.ListChanged(Tools)
		s.ListChanged(Resources)
	}
	close(gate)
	e.hears(`tools/list_changed {}`, `resources/list_changed {}`)
	s.ListChanged(Tools)
	e.hears(`tools/list_changed {}`)
}
