# One line each. `make run` and `make test` install what they need first.
STEELYARD = .venv/bin/steelyard
# scripts/setup links a Rust there that the release has beside its first one
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: run lab rtl rtl-tools serve finalists iot-study felics-blocks setup deps catalogue test test-rust test-python test-long fuzz check bench docs format clean msp430-toolchain

run: setup            ## weigh three ciphers on every target: a matrix and tables, in a minute or two
	$(STEELYARD) run campaigns/first.toml

finalists: setup      ## weigh the finalists and references on every target, and write the report
	$(STEELYARD) run campaigns/finalists.toml
	$(STEELYARD) report

iot-study: setup      ## weigh block ciphers and AEADs as El-Hajj and Fadlallah did: .steelyard/iot-study.html
	$(STEELYARD) run campaigns/iot-study.toml
	$(STEELYARD) study --out .steelyard/iot-study.html

felics-blocks: setup  ## weigh block ciphers in FELICS's scenarios, with its figure of merit: .steelyard/felics-blocks-*.html
	$(STEELYARD) run campaigns/felics-blocks.toml
	for s in 0 1 2; do $(STEELYARD) rank --kind merit --variants --by felics_code_total,felics_ram,felics_cycles_total \
		--where "workload ~ felics-block-$$s*" --out .steelyard/felics-blocks-$$s.html || exit; done

lab:                  ## weigh three ciphers on five virtual boards through the field's own tools: no hardware, in minutes
	@scripts/setup lab
	install -D -m 644 docs/guides/lab.toml .steelyard/lab.toml
	$(STEELYARD) boards virtual --lab .steelyard/lab.toml -- $(STEELYARD) run \
		asconaead128/small tinyjambu128v2/small aes128gcm/ref --workload 0/16,16/0 --lab .steelyard/lab.toml \
		--on uno-1,pill-1,nucleo-1,esp-1,maix-1 --threads 5

rtl: rtl-tools        ## weigh four bundled designs on ECP5, Artix-7 and Cyclone 10 LP: tables, and throughput against area
	$(STEELYARD) rtl nocrypt/default ascon/x1 tinyjambu/default xoodyak/x1
	$(STEELYARD) plot area --where "primitive == lwc_rtl" -o .steelyard/throughput-area.svg

rtl-tools:            ## install what weighs hardware: Verilator, yosys, nextpnr, GHDL 5
	@scripts/setup rtl

serve: setup          ## serve the local results as web pages, at http://127.0.0.1:8017/, and weigh what is handed in there
	$(STEELYARD) serve --submissions --work 1

setup:                ## install what is missing, build the native core
	@scripts/setup

deps:                 ## fetch the sources of bundled dependencies (mbedTLS)
	ciphers/deps/fetch

msp430-toolchain:     ## optional: GCC for MSP430 beside Clang (run --toolchain msp430-elf-gcc), from Debian's sources in half an hour
	scripts/msp430-toolchain

catalogue: setup      ## weigh every bundled implementation and rank them all in docs/catalogue.md
	rm -f .steelyard/catalogue.db*
	$(STEELYARD) run campaigns/catalogue.toml --db .steelyard/catalogue.db
	$(STEELYARD) rank --db .steelyard/catalogue.db --kind places -o .steelyard/catalogue.md
	sed -i '/^<!-- tables -->$$/q' docs/catalogue.md
	(echo; cat .steelyard/catalogue.md) >>docs/catalogue.md

test: test-rust test-python   ## everything that must pass before a commit

test-rust:            ## the native core's half of it
	@scripts/setup test
	cargo test --release --locked -q

test-python:          ## the other half; PYTEST="tests/sources -k zip" and so on for a part; one more at once than cores,
                      ## for boards wait
	@scripts/setup test
	.venv/bin/python -m pytest -rsR --rerun-show-tracebacks -m "not long" -n $$(($$(nproc) + 1)) --dist worksteal $(PYTEST)

test-long: test       ## minutes of differential testing more
	@scripts/setup test-long
	cargo test --release --locked -q -- --ignored
	.venv/bin/python -m pytest -rsR --rerun-show-tracebacks -m long $(PYTEST)

fuzz:                 ## ten million random instructions of each set against the oracles; FUZZ="--seed 7 avr5" and so on;
                      ## then five minutes of random jobs, faults and kills; FUZZ_JOBS="--seed 7 --minutes 60"
	@scripts/setup test
	cargo run --release --locked -q -p lockstep --bin fuzz -- $(FUZZ)
	.venv/bin/python -m tests.fuzz.pipeline $(FUZZ_JOBS)

check:                ## format, lint, types, tests
	@scripts/setup check
	cargo fmt --check
	cargo clippy --release --locked --all-targets -q -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" cargo doc --release --locked --no-deps --document-private-items -q
	.venv/bin/ruff format --check src tests bench oracles scripts
	.venv/bin/ruff check src tests bench oracles scripts
	.venv/bin/mypy
	.venv/bin/lint-imports
	$(MAKE) test

bench: setup          ## speed against the named peers, in the same run
	.venv/bin/python -m pip install -q --disable-pip-version-check 'unicorn>=2.1'
	.venv/bin/python bench/bench.py
	.venv/bin/python bench/analyzer.py
	.venv/bin/python bench/service.py

docs: setup           ## put real output into README and docs
	.venv/bin/python scripts/docs.py

format:
	cargo fmt
	.venv/bin/ruff format src tests bench oracles scripts
	.venv/bin/ruff check --fix src tests bench oracles scripts

clean:
	rm -rf target .venv .steelyard
