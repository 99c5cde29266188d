# Conch's own chores. Go downloads what it needs by itself; `make help` tells
# what there is.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

# Set by releases.
VERSION ?=
# How long `make fuzz` gives each target.
FUZZTIME ?= 30s
# Where `make test` writes one JSON line for each event (test2json).
RESULTS ?= bin/test.jsonl

LDFLAGS  := -s -w $(if $(VERSION),-X github.com/conch-mcp/conch/internal/cli.version=$(VERSION))
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)'
PLATFORMS := linux-amd64 linux-arm64 darwin-amd64 darwin-arm64

# Packages of npm may bring Go files of their own.
PACKAGES = $$(go list ./... | grep -v /node_modules/ | tr '\n' ' ')
FILES    = find . \( -name node_modules -o -name .git -o -name dist -o -name bin \) -prune -o -type f

# One needs neither a C compiler nor the race detector to run the tests.
RACE = $$([ "$$(go env CGO_ENABLED)" = 1 ] && command -v "$$(go env CC | cut -d' ' -f1)" >/dev/null && echo -race)

# How many packages are tested at once. Most of what tests do is to wait.
AT_ONCE = $$(($$(getconf _NPROCESSORS_ONLN) + 1))

# Folders of tests that use packages of npm.
WITH_NPM  := test/clients test/bash-mcp-sdk test/conformance
INSTALLED := $(WITH_NPM:%=%/node_modules/.package-lock.json)

.PHONY: build build-all demo test test-deps busybox curl git nginx haproxy shellcheck check lint reference bench fuzz clean help

build: ## build bin/conch, static
	$(GO_BUILD) -o bin/conch ./cmd/conch

build-all: $(PLATFORMS:%=dist/conch-%) ## build dist/conch-OS-ARCH for Linux and macOS

.PHONY: $(PLATFORMS:%=dist/conch-%)
$(PLATFORMS:%=dist/conch-%): dist/conch-%:
	GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) $(GO_BUILD) -o $@ ./cmd/conch

demo: build ## build, then call tools of the examples, over stdio and HTTP
	bin/conch tools examples/logs/server.sh
	bin/conch call examples/logs/server.sh search file=app.log text=ERROR
	bin/conch call examples/movies/server.sh get_movies genre=comedy
	CONCH_BIN=bin/conch examples/http-demo.sh

# `go tool` cross-compiles a tool where GOOS or GOARCH is set, so they are not.
test: test-deps lint ## run the linters and every test there is
	@mkdir -p $(dir $(RESULTS))
	go tool gotestsum --format pkgname --jsonfile $(RESULTS) --packages "$(PACKAGES)" -- -count=1 -timeout 20m -p $(AT_ONCE) $(RACE)

test-deps: $(INSTALLED) busybox curl git nginx haproxy ## install what the tests use: MCP clients, bats, proxies

$(INSTALLED): %/node_modules/.package-lock.json: %/package.json %/package-lock.json
	@command -v npm >/dev/null || $(call install,nodejs npm,npm)
	cd $* && npm ci
	@touch $@

busybox curl git:
	@command -v $@ >/dev/null || $(call install,$@,$@)

# Debian has both where only root's PATH leads.
nginx haproxy:
	@PATH=$$PATH:/usr/sbin command -v $@ >/dev/null || $(call install,$@,$@)

check: ## build, vet and unit tests: under a minute
	go build ./...
	go vet ./internal/... ./cmd/... ./lib/...
	go test ./internal/... ./lib/...

lint: shellcheck ## gofmt, vet (what ships, for macOS too), staticcheck, shellcheck
	@unformatted=$$($(FILES) -name '*.go' -exec gofmt -l {} +); \
	if [[ -n $$unformatted ]]; then echo "gofmt would change:" $$unformatted >&2; exit 1; fi
	go vet $(PACKAGES)
	GOOS=darwin go vet ./cmd/... ./internal/... ./lib/... ./bench/...
	go tool staticcheck $(PACKAGES)
	shellcheck .ci/run $$($(FILES) \( -name '*.sh' -o -name '*.bash' \) -print)
	shellcheck -s bats $$($(FILES) -name '*.bats' -print)

shellcheck:
	@command -v shellcheck >/dev/null || $(call install,shellcheck,shellcheck)

# A command that installs packages $(1) for the program $(2), or says that
# somebody must.
install = { \
	if [[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null; then \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends $(1); \
	else \
	  echo "$(2) is missing: install $(1) with your system's package manager" >&2; exit 1; \
	fi; }

# make hands PEER='command' and other variables of its command line on.
reference: ## write docs/reference anew from the code
	go generate ./internal/reference

bench: build ## measure; PEER='command' measures another server beside
	go run ./bench

fuzz: ## run every fuzz target for FUZZTIME (30s) each
	@$(FILES) -name '*_test.go' -exec grep -Eo '^func Fuzz[A-Za-z0-9_]+' {} + | while IFS=: read -r file function; do \
	  target=$${function#func }; \
	  echo "$$target in $${file%/*}"; \
	  go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$${file%/*}"; \
	done

clean: ## remove what was built and installed here
	rm -rf bin dist $(WITH_NPM:%=%/node_modules) test/clients/out

help: ## this list
	@grep -Eh '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | while IFS=$$'\t' read -r target text; do \
	  printf '%-10s  %s\n' "$$target" "$$text"; \
	done
