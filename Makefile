# Start here: `make demo` shows the program at work, `make test` tests it. Both do
# all the set-up they need.

GO         ?= go
STATICCHECK = $(GO) tool -modfile=scripts/tools/go.mod staticcheck
# The Python for tests; internal/testing/testenv has the same default. make vet vets: no test run does it again.
GOTEST      = PIPELINE_PYTHON="$(or $(PIPELINE_PYTHON),$(CURDIR)/.testenv/python/bin/python)" $(GO) test -vet=off -timeout 20m

# Tests, compilers and linters live short, so fewer collections of garbage save a fifth of their processor time.
demo test check race race-all module-test: export GOGC = 400

.PHONY: help
help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

.PHONY: setup
setup: build ## find or download ONNX Runtime, libvips and libheif
	@bin/pipeline setup

.PHONY: test-setup
test-setup: build ## install a Python environment, a browser and libraries for the tests into .testenv
	@scripts/testenv/setup.sh

# With -trimpath, as dist has it, all packages would be compiled once more for the tests.
.PHONY: build
build: ## build bin/pipeline
	$(GO) build -o bin/pipeline ./cmd/pipeline

.PHONY: demo
demo: setup ## draw images, learn, label and write a report; offline after the set-up
	bin/pipeline demo --out out/demo

.PHONY: test
test: setup test-setup ## run the tests
	$(GOTEST) ./...

.PHONY: check
check: setup test-setup format vet lint race docs ## run everything that CI runs besides the tests

.PHONY: format
format:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted (run gofmt -w):"; echo "$$unformatted"; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...

# What differs between Linux and Windows is in files of these packages; none needs cgo.
PORTED = ./internal/atomicfile ./internal/regularfile ./internal/instance ./internal/sharedlib ./internal/hostmem ./internal/openblas \
         ./internal/imagelib ./preprocess/... ./dataset ./embedding/cache

.PHONY: vet-systems
vet-systems: ## vet everything for macOS, and the packages that differ there for Windows
	@scripts/dist/vet-macos.sh
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) vet $(PORTED)

.PHONY: lint
lint: ## run staticcheck, Biome (JavaScript), Ruff (Python) and the structural tests (imports, sizes, links)
	$(STATICCHECK) ./...
	@scripts/tools/lint.sh
	$(GOTEST) ./internal/archtest

.PHONY: api
api: ## say what changed for Go programs since the last release (or BASE), and fail if they no longer compile within a minor version
	@scripts/api.sh $(BASE)

# The race detector finds races only where goroutines meet. So it runs the packages
# that start goroutines, or whose tests do, and with race-all those, too, that divide rows
# among dense.Parallel's; -short leaves out tests that repeat the same work or do everything
# in one goroutine. Of the commands it runs the tests in
# RACED: embedding, every output, and cancelling.
# No process waits at its end for races to come: one is reported when it happens.
GOROUTINES = go func|\.Go[(]|classifiertest\.Run
RACED      = Test(EmbedFolder|Interrupt|EmbedStdin|StdinIsTheJob|FeaturesAreTheImages|LearnElsewhere|SameBytes|Organise|XMP|LabelReport|Rank|ViewsOfPhotos|DamagedCache|HostileFolder|StatsAcrossMachines|FSCILOnFolder)

.PHONY: race
race: export GORACE = atexit_sleep_ms=0
race:
	$(GOTEST) -race -short \
		$$(git ls-files '*.go' | xargs grep -lE '$(GOROUTINES)' | xargs -n1 dirname | sort -u | \
		grep -vE '^(cmd/pipeline|internal/archtest|scripts)' | sed 's,^,./,')
	$(GOTEST) -race -run '^$(RACED)$$' \
		$$(git ls-files 'cmd/pipeline/*_test.go' | xargs grep -lE 'func $(RACED)[(]' | xargs -n1 dirname | sort -u | sed 's,^,./,')

.PHONY: race-all
race-all: GOROUTINES = go func|\.Go[(]|dense\.Parallel|classifiertest\.Run|mutation\.Each
race-all: race ## run the race detector on everything that runs in parallel

.PHONY: docs
docs: ## fail if docs/cli is out of date (make docs-update writes it)
	$(GOTEST) -run TestCommandDocs ./cmd/pipeline/command

.PHONY: docs-update
docs-update: ## write docs/cli from the commands' help
	$(GOTEST) -run TestCommandDocs ./cmd/pipeline/command -update

.PHONY: book
book: ## turn the documentation into out/book, pages that a browser shows offline (needs Python)
	@scripts/book/build.sh

.PHONY: dist
dist: ## build out/dist/pipeline-VERSION-linux-amd64.tar.xz, which runs anywhere (ARCH=arm64, macos or windows: cross-built)
	@scripts/dist/dist.sh $(or $(ARCH),amd64)

.PHONY: dist-test
dist-test: ## build the archive twice, compare, check what it needs, and run its demo with an empty environment
	@scripts/dist/test.sh

.PHONY: wheel
wheel: ## build out/dist/photo_pipeline-VERSION-py3-none-PLATFORM.whl, the Python module with the program (ARCH as for dist)
	@scripts/dist/wheel.sh $(or $(ARCH),amd64)

.PHONY: wheel-test
wheel-test: wheel ## install the wheel into an empty environment, test the module there, and time 100 000 rows
	@scripts/dist/wheel-test.sh

.PHONY: windows-test
windows-test: setup test-setup ## build the zip for Windows and run it under Wine beside a build for Linux; takes minutes
	@scripts/dist/wine.sh

.PHONY: arm64-test
arm64-test: setup ## build the archive for arm64 and run it, the tests of what computes and, with NETWORK=FILE, the demo under QEMU; takes an hour
	@scripts/dist/arm64.sh

.PHONY: vulncheck
vulncheck: ## look for known vulnerabilities in what the program calls (VULNDB=file:///FOLDER: in a copy of the database)
	$(GO) tool -modfile=scripts/tools/go.mod govulncheck $(if $(VULNDB),-db $(VULNDB)) ./cmd/...

.PHONY: module-test
module-test: ## go install from a local module proxy into an empty home, set up, and label
	@scripts/dist/module.sh

.PHONY: clients
clients: setup ## make clients of serve for Python and Go, and let 64 threads label N (1000) photos each
	@scripts/clients/clients.sh $(N)

.PHONY: onnx-test
onnx-test: setup ## label with an exported model by onnxruntime in Python and onnxruntime-web (needs Python and npm)
	@scripts/onnx/test.sh

.PHONY: kubernetes-test
kubernetes-test: ## hold deploy/kubernetes against Kubernetes' schemas (needs Python)
	@scripts/kubernetes/validate.sh

.PHONY: spark-test
spark-test: setup ## test the Spark jobs in deploy/spark (skipped without Java, or pyspark and pyarrow in $PYTHON)
	$${PYTHON:-python3} -m unittest -v deploy/spark/test_spark.py

.PHONY: exports
exports: setup ## export random-weight CLIP, ResNet-50 and DINOv2, and run the pipeline on them (needs Python)
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && models/verify_exports.sh "$$folder" && \
	PIPELINE_EXPORTS="$$folder" $(GO) test -count=1 -v -run TestExports ./cmd/pipeline/tests/research

.PHONY: bench
bench: setup ## run the benchmarks; takes minutes
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: bench-beside
bench-beside: setup ## run the benchmarks of PACKAGES (all) of the commit BASE and of this checkout in turn, and print ratios
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	python3 scripts/bench_beside.py build "$(BASE)" "$$folder" $(PACKAGES) && python3 scripts/bench_beside.py run "$$folder"

.PHONY: bench-peers
bench-peers: setup ## time what the program does beside Pillow, scikit-learn and the papers' own programs (JOBS: words in their names); takes half an hour
	@python3 scripts/bench_peers.py $(if $(PEERS),--out "$(PEERS)") $(JOBS)

.PHONY: same-output
same-output: setup ## run every command of the commit BASE and of this checkout, and say in what they print and write they differ; takes minutes
	@python3 scripts/same_output.py beside "$(BASE)"

.PHONY: tables
tables: setup test-setup build ## make the tables of docs/results again, TABLES (all) of those that DATA has the data for; takes hours
	"$(or $(PYTHON),$(CURDIR)/.testenv/python/bin/python)" scripts/tables.py $(if $(DATA),--data "$(DATA)") $(TABLES)

.PHONY: stories
stories: setup test-setup ## let three people teach in a browser with CLASSES (100) of mini-ImageNet's test photos; takes minutes
	PIPELINE_STORIES=$(or $(CLASSES),100) $(GOTEST) -count=1 -v -timeout 60m -run '^TestStories$$' ./cmd/pipeline/tests/serving

.PHONY: fuzz
fuzz: setup ## run each fuzz target for FUZZTIME (30s), then read MUTATIONS (100000) damaged models and feature folders, and ten times as many images
	@scripts/fuzz.sh $(or $(FUZZTIME),30s) $(or $(MUTATIONS),100000)
