# SPDX-License-Identifier: GPL-2.0-only
# Included by Kbuild: refuses kernels that cannot be supported, and has
# compat/features find out what this one offers. Only when something is about
# to be compiled: the kernel's build reads Kbuild at other times, too.

ifneq ($(filter %/Makefile.build,$(MAKEFILE_LIST)),)

ifneq ($(or $(filter 0 1 2 3 4,$(VERSION)),$(and $(filter 5,$(VERSION)),$(filter 0 1 2 3 4 5 6 7 8 9,$(PATCHLEVEL)))),)
$(error kretpool needs Linux 5.10 or later, and these are the headers of $(VERSION).$(PATCHLEVEL))
endif
ifeq ($(and $(CONFIG_64BIT),$(wildcard $(src)/arch/$(SRCARCH))),)
$(error kretpool needs a 64-bit kernel for x86-64 or arm64, and these are the headers of another one ($(SRCARCH)$(if $(CONFIG_64BIT),,, 32-bit)))
endif
ifeq ($(CONFIG_KPROBES),)
$(error kretpool needs a kernel with CONFIG_KPROBES, and these are the headers of one without)
endif

krp-dir := $(obj)/compat
$(shell mkdir -p $(krp-dir))
# How this kernel compiles, as files: the flags hold quotes of both kinds.
$(file >$(krp-dir)/.command.c,$(CC) $(NOSTDINC_FLAGS) $(LINUXINCLUDE) \
	-include $(srctree)/include/linux/compiler_types.h $(KBUILD_CPPFLAGS) \
	$(KBUILD_CFLAGS) $(KBUILD_CFLAGS_MODULE))
$(file >$(krp-dir)/.command.S,$(CC) $(NOSTDINC_FLAGS) $(LINUXINCLUDE) \
	$(KBUILD_CPPFLAGS) $(KBUILD_AFLAGS) $(KBUILD_AFLAGS_MODULE))
krp-complaint := $(shell $(CONFIG_SHELL) $(src)/compat/features $(krp-dir) \
	$(or $(objtree),.)/include/config/auto.conf)
ifneq ($(krp-complaint),)
$(error $(krp-complaint))
endif

endif
