package examples_test

import (
	"path/filepath"
	"strings"
	"testing"
)

const wholeProgramme = `m1: A Trip to the Moon (1902), science fiction
m2: Nosferatu (1922), horror
m3: Safety Last! (1923), comedy
m4: The General (1926), comedy
m5: Metropolis (1927), science fiction
m6: Sunrise (1927), drama
m7: The Passion of Joan of Arc (1928), drama`

// told is a call that succeeds, with the whole of what it says.
type told struct{ about, tool, arguments, text string }

func TestMoviesTellsItsProgramme(t *testing.T) {
	table := []told{
		{"all movies", "get_movies", `{}`, wholeProgramme},
		{"one genre", "get_movies", `{"genre":"comedy"}`, "m3: Safety Last! (1923), comedy\nm4: The General (1926), comedy"},
		{"a genre of two words", "get_movies", `{"genre":"science fiction","limit":1}`, "m1: A Trip to the Moon (1902), science fiction"},
		{"more than there are", "get_movies", `{"limit":100}`, wholeProgramme},
		{"a movie", "get_movie", `{"id":"m3"}`, "Safety Last! (1923)\nId: m3\nGenre: comedy\nFree seats: 2"},
		{"a movie that is sold out", "get_movie", `{"id":"m7"}`, "The Passion of Joan of Arc (1928)\nId: m7\nGenre: drama\nFree seats: 0"},
	}
	asks := make([]asked, len(table))
	for i, c := range table {
		asks[i] = asked{about: c.about, tool: c.tool, arguments: c.arguments}
	}
	for i, got := range theExample(t, "movies").session(asks) {
		if got.text != table[i].text {
			t.Errorf("%s: %q, want %q", table[i].about, got.text, table[i].text)
		}
	}
	theExample(t, "movies").ask(asks)
}

func TestMoviesSaysWhatIsWrong(t *testing.T) {
	table := []asked{
		{"an unknown genre", "get_movies", `{"genre":"western"}`, true, []string{`genre="western" (allowed: comedy, drama, horror, science fiction)`}},
		{"a genre that is no text", "get_movies", `{"genre":["comedy"]}`, true, []string{"genre expected string, got array"}},
		{"no movies at all", "get_movies", `{"limit":0}`, true, []string{"limit=0 below minimum 1"}},
		{"too many movies", "get_movies", `{"limit":101}`, true, []string{"limit=101 above maximum 100"}},
		{"a limit that Bash cannot read", "get_movies", `{"limit":2.0}`, true, []string{"Write limit in digits alone, not as 2.0."}},
		{"an unknown argument", "get_movies", `{"gener":"comedy"}`, true, []string{"Unknown parameter(s): gener. Allowed parameters: genre, limit."}},
		{"no id", "get_movie", `{}`, true, []string{"Missing required parameter(s): id."}},
		{"an unknown movie", "get_movie", `{"id":"m8"}`, true, []string{"There is no movie m8; get_movies lists them all."}},
		{"an id that is none", "get_movie", `{"id":"m1|x"}`, true, []string{"does not match pattern"}},
		{"no name and no seats", "book_ticket", `{"movie_id":"m2"}`, true, []string{"Missing required parameter(s):", "seats", "name"}},
		{"an unknown movie's seats", "book_ticket", `{"movie_id":"m99","seats":1,"name":"Ada"}`, true, []string{"There is no movie m99"}},
		{"more seats than are free", "book_ticket", `{"movie_id":"m3","seats":3,"name":"Ada"}`, true, []string{"Safety Last! has 2 free seats, not 3."}},
		{"seats of a movie that is sold out", "book_ticket", `{"movie_id":"m7","seats":1,"name":"Ada"}`, true, []string{"has 0 free seats"}},
		{"more seats than one may book", "book_ticket", `{"movie_id":"m6","seats":9,"name":"Ada"}`, true, []string{"seats=9 above maximum 8"}},
		{"half a seat", "book_ticket", `{"movie_id":"m6","seats":0.5,"name":"Ada"}`, true, []string{"seats expected integer"}},
		{"nobody's name", "book_ticket", `{"movie_id":"m6","seats":1,"name":""}`, true, []string{"shorter than minLength 1"}},
	}
	theExample(t, "movies").session(table)
}

// What a call changes is gone when it ends, so the last two seats can be booked
// again and again.
func TestMoviesBooksTheSameSeatsTwice(t *testing.T) {
	booking := asked{"the last two seats", "book_ticket", `{"movie_id":"m3","seats":2,"name":"Ada"}`, false, []string{
		"Booked: Safety Last!, 2 seats, in the name of Ada.\nReference: R",
	}}
	another := asked{"another's", "book_ticket", `{"movie_id":"m3","seats":2,"name":"Bob"}`, false, []string{"in the name of Bob."}}
	still := asked{"what is free", "get_movie", `{"id":"m3"}`, false, []string{"Free seats: 2"}}
	answers := theExample(t, "movies").session([]asked{booking, booking, another, still})
	if answers[0] != answers[1] {
		t.Errorf("the same booking has two references: %q, %q", answers[0].text, answers[1].text)
	}
	if reference(answers[0].text) == reference(answers[2].text) {
		t.Errorf("two bookings have one reference: %q, %q", answers[0].text, answers[2].text)
	}
}

func reference(text string) string {
	_, reference, _ := strings.Cut(text, "Reference: ")
	return reference
}

func TestMoviesRunsNoArgument(t *testing.T) {
	canary := filepath.Join(t.TempDir(), "canary")
	touch := "touch " + canary
	theExample(t, "movies").session([]asked{
		{"a command for a name", "book_ticket", `{"movie_id":"m2","seats":1,"name":"$(echo x) ` + "`echo x`" + ` %s \\n"}`, false, []string{"in the name of $(echo x) `echo x` %s \\n."}},
		{"an option for a name", "book_ticket", `{"movie_id":"m2","seats":1,"name":"-n"}`, false, []string{"in the name of -n."}},
		{"NUL in a name", "book_ticket", `{"movie_id":"m2","seats":1,"name":"A\u0000B"}`, true, nil},
	})
	answers := theExample(t, "movies").unguarded("get_movies", "get_movie", "book_ticket").session([]asked{
		{"a pattern for a genre", "get_movies", `{"genre":"*"}`, false, nil},
		{"a command for a number", "get_movies", `{"limit":"a[$(` + touch + `)]"}`, true, []string{"digits alone"}},
		{"a command for seats", "book_ticket", `{"movie_id":"m2","seats":"a[$(` + touch + `)]","name":"Ada"}`, true, []string{"digits alone"}},
		{"less than nothing", "book_ticket", `{"movie_id":"m2","seats":-1,"name":"Ada"}`, true, []string{"digits alone"}},
		{"a command for a name", "book_ticket", `{"movie_id":"m2","seats":1,"name":"$(` + touch + `)"}`, false, []string{"in the name of $(" + touch + ")."}},
		{"a command for an id", "get_movie", `{"id":"$(` + touch + `)"}`, true, []string{"There is no movie $("}},
		{"a pattern for an id", "get_movie", `{"id":"*"}`, true, []string{"There is no movie *;"}},
		{"a line for an id", "get_movie", `{"id":"m1\nm2"}`, true, []string{"There is no movie m1\nm2;"}},
	})
	if text := answers[0].text; text != "" {
		t.Errorf("a pattern for a genre: %q", text)
	}
	if exists(canary) {
		t.Error("an argument was run")
	}
}
