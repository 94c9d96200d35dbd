# The everyday commands, thinly over CMake, which does the work. `make help` lists them.

JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
PORT   ?= 8000

# The make that CMake runs is not a part of this one: it must not look for its job server.
BUILD = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake --build
.NOTPARALLEL: # and prerequisites are made in the order in which they are written

# ThreadSanitizer of older compilers fails where addresses are much randomised.
STEADY := $(shell setarch -R true 2>/dev/null && echo setarch -R)

.PHONY: build demo check check-long check-python wheel check-bare check-fuzz check-sanitizers web site peers bench format check-format install clean help install-build-deps install-test-deps install-fuzz-deps install-web-deps

# Tests stay out of a first build, so that it does not need what they need; `make check` switches them on. Without a GPU nobody here
# runs CUDA kernels: they stay PTX, which builds five times as fast, until they are installed. What `make demo` shows needs neither
# the ladder, nor the benchmarks, nor kernels for other machines' GPUs: they come with the next build.
REST = -DREDUCT_BUILD_LADDER=$(1) -DREDUCT_BUILD_BENCH=$(1) -DREDUCT_CUDA=$(2)
CONFIGURE = cmake --preset release -DREDUCT_BUILD_TESTS=OFF -DREDUCT_CUDA_BRIEFLY=ON
define FIRST
@test -f build/CMakeCache.txt || $(CONFIGURE)
@if test -f build/demo-alone; then cmake -S . -B build $(call REST,ON,AUTO) && rm build/demo-alone; fi
endef

build:
	$(FIRST)
	$(BUILD) build --parallel $(JOBS)

install-build-deps:
	@scripts/install-deps build

install-test-deps:
	@scripts/install-deps test

install-web-deps:
	@scripts/install-deps web

install-fuzz-deps:
	@scripts/install-deps fuzz

demo: install-build-deps
	@test -f build/CMakeCache.txt || \
	    { $(CONFIGURE) $(call REST,OFF,HERE) && touch build/demo-alone; }
	$(BUILD) build --parallel $(JOBS) --target demo reduct_command
	build/examples/demo

check: install-test-deps
	$(FIRST)
	cmake --preset release -DREDUCT_BUILD_TESTS=ON
	$(BUILD) build --parallel $(JOBS)
	@scripts/check-stamp
	ctest --preset release --parallel $(JOBS)

# What is slow, and tests more of what others test, too.
check-long: install-test-deps
	$(FIRST)
	cmake --preset release -DREDUCT_BUILD_TESTS=ON
	$(BUILD) build --parallel $(JOBS)
	ctest --preset long --parallel $(JOBS)

# The Python package with all that it works with. PyPI has it; PyTorch alone is some hundred megabytes.
check-python: install-test-deps
	cmake --preset release -DREDUCT_BUILD_TESTS=ON
	$(BUILD) build --parallel $(JOBS) --target check-python

wheel: install-build-deps
	python/wheel --glibc 2.28
	$(foreach python,$(FREE_THREADED),python/wheel --free-threaded $(python) --glibc 2.28 &&) true

# Any static server does.
web: install-web-deps
	web/wasm/build
	web/assemble build/site
	@scripts/serve $(PORT)

site: install-web-deps
	web/wasm/build
	web/assemble build/site

# Benchmarks load them if they are there. Nothing without nvcc.
peers: build
	$(BUILD) build --parallel $(JOBS) --target peers

bench: build peers
	build/reduct bench
	@if nvidia-smi -L >/dev/null 2>&1; then build/reduct bench --device cuda:0; fi

# Which ones: SANITIZERS="clang tsan", presets of CMake, for some of them; SKIP='^cli_' leaves out tests whose names match.
SANITIZERS ?= clang ubsan tsan
SKIP       ?= ^$$
check-sanitizers: install-fuzz-deps
	for name in $(SANITIZERS); do \
	    cmake --preset $$name -DREDUCT_BUILD_TESTS=ON && \
	    $(BUILD) --preset $$name --parallel $(JOBS) && \
	    $(STEADY) ctest --preset $$name -E '$(SKIP)' --parallel $(JOBS) || exit 1; \
	done

check-fuzz: install-fuzz-deps
	cmake --preset clang -DREDUCT_BUILD_TESTS=ON
	$(BUILD) --preset clang --parallel $(JOBS)
	scripts/fuzz

# From nothing, on systems of its own: takes long.
check-bare:
	@scripts/check-bare

format:
	scripts/sources | xargs clang-format -i

check-format:
	scripts/sources | xargs clang-format --dry-run -Werror

install: install-build-deps
	$(FIRST)
	cmake -S . -B build -DREDUCT_CUDA_BRIEFLY=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	$(BUILD) build --parallel $(JOBS)
	cmake --install build

clean:
	rm -rf build

help:
	@echo 'make                   build everything; the command is build/reduct'
	@echo 'make demo              install what is missing, build what it takes, and show what it does'
	@echo 'make check             install what is missing, build, and run the tests'
	@echo 'make check-long        the rest of them: more data, and software GPUs that are slow'
	@echo 'make check-python      the Python package with PyTorch, JAX, pandas, Polars, PyArrow and Dask, from PyPI'
	@echo 'make wheel             a wheel of the Python package, for many Linux systems, in build/wheels; FREE_THREADED=python3.14t: another'
	@echo '                       one for this Python, which has no global lock'
	@echo 'make web PORT=         serve the page on localhost ($(PORT)); make site gathers it in build/site'
	@echo 'make bench             time it beside plain vectorised loops (takes minutes; keep the machine quiet)'
	@echo 'make peers             build what benchmarks compare with on GPUs, CUB and Thrust (takes minutes, needs nvcc)'
	@echo 'make check-sanitizers  the quick tests under the address, undefined-behaviour and thread sanitizers'
	@echo 'make check-fuzz        every fuzz target for some seconds, with clang'
	@echo 'make check-bare        does all this on a bare Debian 12 and Ubuntu 24.04 (needs root and debootstrap)'
	@echo 'make format            format the sources; make check-format only checks'
	@echo 'make install PREFIX=   install below PREFIX (/usr/local)'
	@echo 'make clean             remove build/'
	@echo 'JOBS=N                 compile on N processors ($(JOBS))'
