package httpd

import (
	"strings"
	"testing"
)

func roomy() *budget {
	b := &budget{}
	b.left.Store(1 << 30)
	return b
}

func texts(v view) string {
	var all []string
	for _, e := range v.events {
		all = append(all, string(e.text))
	}
	return strings.Join(all, " ")
}

func TestAStreamEndsWithItsLastReply(t *testing.T) {
	s := newStream(roomy(), 1, 2)
	s.tell([]byte("a"))
	s.reply(200, []byte("b"))
	if v := s.look(); v.ended || !v.told || texts(v) != "a b" {
		t.Errorf("got %+v", v)
	}
	changed := s.look().changed
	s.reply(200, nil)
	<-changed
	if v := s.look(); !v.ended || texts(v) != "a b" {
		t.Errorf("got %+v", v)
	}
}

func TestAReaderGoesOnWhereItIsToldTo(t *testing.T) {
	s := newStream(roomy(), 1, 1)
	for _, text := range []string{"a", "b", "c"} {
		s.tell([]byte(text))
	}
	reader := s.enter()
	for from, want := range map[int]string{0: "a b c", 2: "c", 3: "", 99: "", -1: "a b c"} {
		if v, ok := s.next(reader, from); !ok || texts(v) != want {
			t.Errorf("from %d: %+v", from, v)
		}
	}
	second := s.enter()
	if _, ok := s.next(reader, 0); ok {
		t.Error("the first reader still reads")
	}
	s.leave(reader)
	if _, ok := s.next(second, 0); !ok {
		t.Error("the second does not, since the first has left")
	}
}

func TestWhatNobodyReadsIsBounded(t *testing.T) {
	s := newStream(roomy(), 1, 2)
	s.reply(200, []byte("kept"))
	big := make([]byte, maxUnread/4)
	for range 10 {
		s.tell(big)
	}
	if v := s.look(); string(v.events[0].text) != "kept" || s.kept() > maxUnread {
		t.Errorf("%d bytes are kept, the first event is %.9s", s.kept(), v.events[0].text)
	}
	s = newStream(roomy(), 1, 1)
	for range 10 {
		s.tell(big)
	}
	if s.kept() > maxUnread {
		t.Errorf("%d bytes are kept", s.kept())
	}
	if v := s.look(); v.events[0].number != 6 || len(v.events) != 4 {
		t.Errorf("%d events from %d are left", len(v.events), v.events[0].number)
	}
}

func TestAQuestionIsKeptUntilItIsSettled(t *testing.T) {
	s := newStream(roomy(), 1, 1)
	big := make([]byte, maxUnread/4)
	s.tell(big)
	question := s.question([]byte("who?"))
	for range 10 {
		s.tell(big)
	}
	if s.shed(maxUnread); texts(s.look()) != "who?" {
		t.Errorf("what is left is %.20q", texts(s.look()))
	}
	if v, _ := s.next(s.enter(), question+1); len(v.events) > 0 {
		t.Errorf("who has read it reads %.20q", texts(v))
	}
	s.settle(question)
	for range 4 {
		s.tell(big)
	}
	if v := s.look(); v.events[0].number != 12 || len(v.events) != 4 {
		t.Errorf("%d events are left, the first is %d", len(v.events), v.events[0].number)
	}
}

func TestOnlyWhatIsReadOrUnwantedIsShed(t *testing.T) {
	s := newStream(roomy(), 1, 1)
	s.tell([]byte("abc"))
	reader := s.enter()
	if freed := s.shed(1); freed != 0 {
		t.Errorf("%d bytes were shed that somebody is about to read", freed)
	}
	s.next(reader, 1)
	if freed := s.shed(1); freed != 3 {
		t.Errorf("%d bytes were shed that have been read", freed)
	}
	s.tell([]byte("de"))
	s.leave(reader)
	if freed := s.shed(1); freed != 2 {
		t.Errorf("%d bytes were shed that nobody reads", freed)
	}
}

func TestANotificationThatIsLongByItselfIsKept(t *testing.T) {
	s := newStream(roomy(), 1, 1)
	s.tell([]byte("small"))
	s.tell(make([]byte, 2*maxUnread))
	if v := s.look(); len(v.events) != 1 || len(v.events[0].text) != 2*maxUnread {
		t.Errorf("%d events are kept", len(v.events))
	}
}
