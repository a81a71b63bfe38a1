# make test is the one test command: see CONTRIBUTING.md.

GOFUMPT     = mvdan.cc/gofumpt@v0.10.0
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0

export GOFUMPT STATICCHECK GOVULNCHECK

.PHONY: test check bench fuzz vuln

test: check
	script/test

check:
	script/check

bench:
	go test -run '^$$' -bench . -benchmem ./...

fuzz:
	script/fuzz

vuln:
	go run $(GOVULNCHECK) ./...
