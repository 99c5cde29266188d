package stdio_test

import (
	"strings"
	"testing"
)

func TestTheConfigurationIsShownInBothEras(t *testing.T) {
	const versions = `"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],`
	plain := `"capabilities":{"logging":{},"tools":{"listChanged":true},"resources":{}}`
	info := `{"name":"server","version":"1.0.0"}`
	tests := []struct {
		name, config string
		initialize   string // behind protocolVersion
		discover     string // the whole result
	}{
		{
			"nothing", ` { } `,
			plain + `,"serverInfo":` + info,
			versions + plain + `,"ttlMs":0,"cacheScope":"public","resultType":"complete","_meta":{"` + metaServerInfo + `":` + info + `}`,
		},
		{
			"everything",
			`{"serverInfo":{"name":"films","version":"3.1","title":"<Films & \u0046>","websiteUrl":"https://example.com/"},
			  "instructions":"Ask \"nicely\"\n<now> & é","capabilities":{"tools":{"listChanged":false}},"ttlMs":60000,"cacheScope":"private","unknown":1}`,
			`"capabilities":{"tools":{"listChanged":false}},"serverInfo":{"name":"films","version":"3.1","title":"<Films & \u0046>","websiteUrl":"https://example.com/"},"instructions":"Ask \"nicely\"\n<now> & é"`,
			versions + `"capabilities":{"tools":{"listChanged":false}},"instructions":"Ask \"nicely\"\n<now> & é","ttlMs":60000,"cacheScope":"private","resultType":"complete","_meta":{"` +
				metaServerInfo + `":{"name":"films","version":"3.1","title":"<Films & \u0046>","websiteUrl":"https://example.com/"}}`,
		},
		{
			"a name alone", `{"serverInfo":{"name":"films"}}`,
			plain + `,"serverInfo":{"version":"1.0.0","name":"films"}`,
			versions + plain + `,"ttlMs":0,"cacheScope":"public","resultType":"complete","_meta":{"` + metaServerInfo + `":{"version":"1.0.0","name":"films"}}`,
		},
		{
			"nulls", `{"serverInfo":null,"instructions":null,"supportedVersions":null,"capabilities":null,"ttlMs":null,"cacheScope":null}`,
			plain + `,"serverInfo":` + info,
			versions + plain + `,"ttlMs":0,"cacheScope":"public","resultType":"complete","_meta":{"` + metaServerInfo + `":` + info + `}`,
		},
		{
			"the least", `{"serverInfo":{},"instructions":"","capabilities":{},"ttlMs":0}`,
			`"capabilities":{},"serverInfo":` + info,
			versions + `"capabilities":{},"ttlMs":0,"cacheScope":"public","resultType":"complete","_meta":{"` + metaServerInfo + `":` + info + `}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := custom(t, fixtureScript, fixtureTools, test.config)
			wantResult(t, c.ask(modernRequest("1", "server/discover", "")), "1", `{`+test.discover+`}`)
			for _, revision := range legacyRevisions {
				wantResult(t, c.ask(initialize("2", revision)), "2", `{"protocolVersion":"`+revision+`",`+test.initialize+`}`)
			}
			_, tail, _ := strings.Cut(test.discover, `"ttlMs":`)
			if r := c.ask(modernRequest("3", "tools/list", "")); !strings.HasSuffix(r.Raw, `],"ttlMs":`+tail+`}}`) {
				t.Errorf("the list says something else: %s", r.Raw)
			}
			_, meta, _ := strings.Cut(test.discover, `"resultType":`)
			if r := c.ask(modernRequest("4", "tools/call", `"name":"echo"`)); !strings.HasSuffix(r.Raw, `"resultType":`+meta+`}}`) {
				t.Errorf("the call says something else: %s", r.Raw)
			}
		})
	}
}

func TestTheConfigurationMayLeaveTheStatelessEraAlone(t *testing.T) {
	c := custom(t, fixtureScript, fixtureTools, `{"supportedVersions":["2026-07-28"]}`)
	for _, method := range []string{"ping", "tools/list", "tools/call", "logging/setLevel", "no/such"} {
		wantError(t, c.ask(request("1", method, `{"name":"echo","level":"debug"}`)), "1", -32602)
	}
	r := c.ask(initialize("2", newestLegacy))
	if r.Error == nil || r.Error.Code != -32602 && r.Error.Code != -32601 && r.Error.Code != -32022 {
		t.Errorf("a handshake where there is none: %s", r.Raw)
	}
	c.askModern()
	if r := c.ask(modernRequest("3", "server/discover", "")); !strings.HasPrefix(string(r.Result), `{"supportedVersions":["2026-07-28"],`) {
		t.Errorf("not the versions of the configuration: %s", r.Raw)
	}
	wantUnsupported(t, c.ask(request("4", "tools/list", `{"_meta":{"`+metaVersion+`":"2025-11-25","`+metaCapabilities+`":{}}}`)), "4", "2025-11-25", modern)
	wantError(t, c.ask("not JSON"), "", -32700)
}

func TestTheConfigurationMayLeaveOlderRevisionsAlone(t *testing.T) {
	c := custom(t, fixtureScript, fixtureTools, `{"supportedVersions":["2024-11-05","2025-06-18"]}`)
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-06-18": "2025-06-18",
		"2025-03-26": "2025-06-18", "2025-11-25": "2025-06-18", modern: "2025-06-18", "unknown": "2025-06-18",
	} {
		r := c.initialize(asked)
		if got := member(t, r.Result, "protocolVersion"); got != want {
			t.Errorf("asked for %s, want %s: %s", asked, want, r.Raw)
		}
		c.works()
	}
	for _, method := range []string{"server/discover", "tools/list", "tools/call"} {
		wantUnsupported(t, c.ask(modernRequest("1", method, `"name":"echo"`)), "1", modern)
	}
	c.works()
}

func TestTheConfigurationMayPinTheRevisionOfAHandshake(t *testing.T) {
	c := custom(t, fixtureScript, fixtureTools, `{"protocolVersion":"2025-03-26"}`)
	for _, asked := range []string{"2024-11-05", "2025-03-26", "2025-11-25", modern, "unknown"} {
		r := c.initialize(asked)
		if got := member(t, r.Result, "protocolVersion"); got != "2025-03-26" {
			t.Errorf("asked for %s, got %s: %s", asked, got, r.Raw)
		}
		c.works()
	}
	c.askModern()
	if r := c.ask(modernRequest("1", "server/discover", "")); !strings.HasPrefix(string(r.Result), `{"supportedVersions":["2026-07-28","2025-03-26"],`) {
		t.Errorf("not the versions of the configuration: %s", r.Raw)
	}
}

func TestTheConfigurationMayBeEditedWhileTheServerRuns(t *testing.T) {
	c := fixture(t)
	wantResult(t, c.ask(modernRequest("1", "server/discover", "")), "1", discoverResult)
	for range 3 {
		c.replace("config.json", `{"instructions":"first","supportedVersions":["2024-11-05"]}`)
		wantUnsupported(t, c.ask(modernRequest("2", "tools/list", "")), "2", modern)
		if r := c.initialize("2025-06-18"); member(t, r.Result, "protocolVersion") != "2024-11-05" || member(t, r.Result, "instructions") != "first" {
			t.Errorf("not what the configuration says now: %s", r.Raw)
		}
		c.replace("config.json", `{"instructions":"again!"}`)
		if r := c.ask(modernRequest("3", "server/discover", "")); member(t, r.Result, "instructions") != "again!" {
			t.Errorf("not what the configuration says now: %s", r.Raw)
		}
	}
}

// Members Conch knows must be of their type, or the author would wonder where
// they are.
func TestAConfigurationThatMakesNoSenseIsToldAndTheServerGoesOn(t *testing.T) {
	for _, config := range []string{
		`{"serverInfo":"films"}`, `{"serverInfo":{"name":7}}`, `{"serverInfo":[]}`,
		`{"instructions":7}`, `{"capabilities":[]}`, `{"capabilities":"tools"}`,
		`{"supportedVersions":"2024-11-05"}`, `{"supportedVersions":[7]}`, `{"supportedVersions":[]}`, `{"supportedVersions":["1999-01-01"]}`,
		`{"protocolVersion":7}`, `{"protocolVersion":"1999-01-01"}`, `{"protocolVersion":"2024-11-05","supportedVersions":["2025-06-18"]}`,
		`{"ttlMs":-1}`, `{"ttlMs":1.5}`, `{"ttlMs":"1"}`, `{"cacheScope":"shared"}`, `{"cacheScope":true}`,
	} {
		t.Run(config, func(t *testing.T) {
			c := custom(t, fixtureScript, fixtureTools, config)
			for _, line := range []string{modernRequest("7", "server/discover", ""), initialize("7", "2024-11-05")} {
				r := c.ask(line)
				if wantError(t, r, "7", -32603); !strings.Contains(r.Error.Message, c.path("config.json")) {
					t.Errorf("the message does not name the file: %s", r.Raw)
				}
			}
			c.works()
			c.askModern()
			c.replace("config.json", `{}`)
			wantResult(t, c.ask(modernRequest("8", "server/discover", "")), "8", discoverResult)
		})
	}
}
