# SPDX-License-Identifier: GPL-2.0-only
# What a person types; the kernel's own build reads Kbuild.

# of the bench and test verbs, which boot a stock kernel in a virtual machine
KERNEL ?= 6.1
ARCH ?= x86_64
CPUS ?= 4
SECONDS ?= 2
# of the verbs that build for and install on this machine
KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
RELEASE = $(shell awk -F '"' '{ print $$2 }' $(KDIR)/include/generated/utsrelease.h)
# ARCH is the virtual machine's: the kernel's own build must not see it.
KMAKE = env -u ARCH $(MAKE) --no-print-directory -C $(KDIR) M=$(CURDIR)

# bash counts up a variable named SECONDS by itself
unexport SECONDS
export KERNEL ARCH CPUS
export BENCH_SECONDS := $(SECONDS)

.DEFAULT_GOAL := modules

modules: ## build the modules for this machine's running kernel (the default)
	@test -e $(KDIR)/Makefile || { \
		echo "make: there are no headers for kernel $$(uname -r) in $(KDIR): install its" \
			"linux-headers package, or name another kernel's with KDIR=" >&2; exit 1; }
	@$(KMAKE) modules

tools: ## build the tool, kretpool, for this machine
	@$(MAKE) --no-print-directory -C tools OUT=$(CURDIR)/build/tools

install: modules tools ## install modules and tool on this machine (DESTDIR= PREFIX=)
	@$(KMAKE) INSTALL_MOD_DIR=extra/kretpool $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install
	@$(if $(DESTDIR),,depmod -a $(RELEASE))
	@install -D -m 755 build/tools/kretpool $(DESTDIR)$(PREFIX)/sbin/kretpool
	@install -D -m 644 tools/kretpool.8 $(DESTDIR)$(PREFIX)/share/man/man8/kretpool.8
	@install -D -m 644 tools/kretpool.bash-completion \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/kretpool

uninstall: ## remove them
	@rm -rf $(DESTDIR)/lib/modules/$(RELEASE)/extra/kretpool
	@$(if $(DESTDIR),,depmod -a $(RELEASE))
	@rm -f $(DESTDIR)$(PREFIX)/sbin/kretpool $(DESTDIR)$(PREFIX)/share/man/man8/kretpool.8 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/kretpool

bench: ## throughput: native, the kernel's kretprobe, kretpool (CPUS= SECONDS= KERNEL= ARCH=)
bench-attach: ## hooking up to all functions at once: time, and what a hit costs then (KERNEL= ARCH=)
bench-insns: ## instructions per call of each way to hook (KERNEL= ARCH=)
bench-compare: ## beside bpftrace, perf probe and function_graph (KERNEL=)
bench-pool: ## the object pool alone, in user space, against other ways
bench-returns: ## what a taken-over return does to this processor's return predictor
test: ## every test that does not need another kernel (KERNEL= ARCH=)
test-matrix: ## the selftests on every kernel and architecture, and a grid of the results
test-debug: ## selftests, torture, failing allocations, random writes on KASAN and KCSAN kernels
test-sim: ## the pool under a deterministic scheduler, with its memory model and cost model
bench-sim: ## how pools scale to 512 simulated CPUs
readme-tables: ## put the results of the benchmarks into README.md
soak: ## torture for long, memory watched (MINUTES= KERNEL= ARCH= CPUS=)
lint: ## sparse, further compiler warnings, checkpatch, shellcheck
bench bench-attach bench-compare bench-insns bench-pool bench-returns bench-sim readme-tables \
lint soak test test-debug test-matrix test-sim:
	@scripts/$@

clean: ## remove what was built here (fetched kernels stay in the cache)
	@rm -rf build
	@find . -path ./.git -prune -o -type f \( -name '*.o' -o -name '*.ko' -o -name '*.mod' \
		-o -name '*.mod.c' -o -name '*.cmd' -o -name '.*.d' -o -name Module.symvers -o -name modules.order \) \
		-exec rm -f {} +

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

.PHONY: modules tools install uninstall bench bench-attach bench-compare bench-insns bench-pool \
	bench-returns bench-sim readme-tables lint soak test test-debug test-matrix test-sim clean help
