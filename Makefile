# The entrance to the project: `make demo` shows it at work, `make test` tests
# it. Both do all the set-up they need.

GO         ?= go
STATICCHECK = $(GO) tool -modfile=scripts/tools/go.mod staticcheck
# Tests use this Python; internal/testenv knows the same default.
GOTEST      = PIPELINE_PYTHON="$(or $(PIPELINE_PYTHON),$(CURDIR)/.testenv/python/bin/python)" $(GO) test

.PHONY: help
help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

.PHONY: setup
setup: ## find or obtain the ONNX Runtime library
	@scripts/setup/onnxruntime.sh

.PHONY: test-setup
test-setup: ## install what only tests use, a Python environment and a browser, into .testenv
	@scripts/testenv/setup.sh

.PHONY: build
build: ## build bin/pipeline
	$(GO) build -trimpath -o bin/pipeline ./cmd/pipeline

.PHONY: demo
demo: setup build ## make images, learn, label, and write a report; offline after the set-up
	bin/pipeline demo --out out/demo

.PHONY: test
test: setup test-setup ## run the tests
	$(GOTEST) ./...

.PHONY: check
check: setup test-setup format vet lint race docs ## everything that CI runs in addition to the tests

.PHONY: format
format:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted (run gofmt -w):"; echo "$$unformatted"; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: lint
lint: ## staticcheck, and the rules of the code base (imports, sizes, links)
	$(STATICCHECK) ./...
	$(GO) test ./internal/archtest

.PHONY: race
race:
	$(GOTEST) -race -short -timeout 20m ./...

.PHONY: docs
docs: ## fail when docs/cli is out of date (make docs-update writes it)
	$(GO) test -run TestCommandDocs ./cmd/pipeline

.PHONY: docs-update
docs-update: ## write docs/cli from the commands' help
	$(GO) test -run TestCommandDocs ./cmd/pipeline -update

.PHONY: spark-test
spark-test: setup build ## try the Spark jobs in deploy/spark (skipped without Java, and pyspark and pyarrow in $$PYTHON)
	$${PYTHON:-python3} -m unittest -v deploy/spark/test_spark.py

.PHONY: exports
exports: setup ## export random-weight CLIP, ResNet-50 and DINOv2, and run the pipeline on them (needs Python)
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && models/verify_exports.sh "$$folder" && \
	PIPELINE_EXPORTS="$$folder" $(GO) test -count=1 -v -run TestExports ./cmd/pipeline

.PHONY: bench
bench: setup ## the benchmarks; takes minutes
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: fuzz
fuzz: setup ## run every fuzz target for FUZZTIME (default 2m) each
	@scripts/fuzz.sh $(or $(FUZZTIME),2m)
