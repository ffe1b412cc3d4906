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
# and where: Module.symvers beside the modules, for KBUILD_EXTRA_SYMBOLS
INSTALLED = $(DESTDIR)/lib/modules/$(RELEASE)/extra/kretpool
HEADERS = $(DESTDIR)/usr/include/kretpool
# the interface: what is not here may change at any time
PUBLIC_HEADERS = objpool.h rethook_pool.h krp_multi.h uretprobe.h uret_lease.h \
	kretprobe_shim.h kretprobe_compat.h \
	objpool_compat.h fprobe_compat.h compat/compat_objpool.h compat/compat_fprobe_user.h \
	compat/include/linux/objpool.h compat/include/linux/fprobe.h compat/include/linux/kprobes.h
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

install: modules install-headers install-tools ## install modules, symbols, headers and the tool (DESTDIR= PREFIX=)
	@$(KMAKE) INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=extra/kretpool modules_install
	@install -m 644 Module.symvers $(INSTALLED)/
	@test -n "$(DESTDIR)" || depmod -a $(RELEASE)

install-headers: ## install what dependents include, and no more
	@install -d $(HEADERS)/compat/include/linux
	@for header in $(PUBLIC_HEADERS); do \
		install -m 644 $$header $(HEADERS)/$$header || exit; done

list-headers:
	@printf '%s\n' $(PUBLIC_HEADERS)

install-tools: tools ## install the tool, its manual and its shell completion
	@install -D -m 755 build/tools/kretpool $(DESTDIR)$(PREFIX)/sbin/kretpool
	@install -D -m 644 tools/kretpool.8 $(DESTDIR)$(PREFIX)/share/man/man8/kretpool.8
	@install -D -m 644 tools/kretpool.bash-completion \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/kretpool

uninstall: ## remove them
	@rm -rf $(INSTALLED) $(HEADERS)
	@rm -f $(DESTDIR)$(PREFIX)/sbin/kretpool $(DESTDIR)$(PREFIX)/share/man/man8/kretpool.8 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/kretpool
	@test -n "$(DESTDIR)" || depmod -a $(RELEASE)

bench: ## throughput: native, the kernel's kretprobe, kretpool (CPUS= SECONDS= KERNEL= ARCH=)
bench-attach: ## hooking up to all functions at once: time, and what a hit costs then (KERNEL= ARCH=)
bench-insns: ## instructions per call of each way to hook (KERNEL= ARCH=)
bench-compare: ## beside bpftrace, perf probe and function_graph (KERNEL=)
bench-pool: ## the object pool alone, in user space, against other ways
bench-returns: ## what a taken-over return does to this processor's return predictor
bench-uret: ## returns of user-space functions: not probed, the kernel's way, kretpool; redis (KERNEL= ARCH=)
test: ## every test that does not need another kernel (KERNEL= ARCH=)
test-matrix: ## the selftests on every kernel and architecture, and a grid of the results
test-debug: ## selftests, torture, failing allocations, random writes on KASAN and KCSAN kernels
test-sim: ## the pool under a deterministic scheduler, with its memory model and cost model
bench-sim: ## how pools scale to 512 simulated CPUs
readme-tables: ## put the results of the benchmarks into README.md
soak: ## torture for long, memory watched (MINUTES= KERNEL= ARCH= CPUS=)
test-upstream: ## the kernel's own tests and samples, on kretpool
test-deb: ## the Debian packages: installed in a system of their own, the module loaded in the VM
deb: ## Debian packages, in build/deb
docs: ## the API reference, from the sources, in build/docs
lint: ## sparse, further compiler warnings, checkpatch, kernel-doc, shellcheck
bench bench-attach bench-compare bench-insns bench-pool bench-returns bench-sim bench-uret docs \
readme-tables lint soak test test-deb test-debug test-matrix test-sim test-upstream:
	@scripts/$@

deb:
	@scripts/make-deb

clean: ## remove what was built here (fetched kernels stay in the cache)
	@rm -rf build
	@find . -path ./.git -prune -o -type f \( -name '*.o' -o -name '*.ko' -o -name '*.mod' \
		-o -name '*.mod.c' -o -name '*.cmd' -o -name '.*.d' -o -name Module.symvers -o -name modules.order \) \
		-exec rm -f {} +

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

.PHONY: modules tools install install-headers install-tools list-headers uninstall bench \
	bench-attach bench-compare bench-insns bench-pool bench-returns bench-sim bench-uret deb docs \
	readme-tables lint soak test test-deb test-debug test-matrix test-sim test-upstream clean help
