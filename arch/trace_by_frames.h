/* SPDX-License-Identifier: GPL-2.0-only */
/* Where frame pointers or frame records lead through hooked calls by themselves. */
#ifndef KRP_TRACE_BY_FRAMES_H
#define KRP_TRACE_BY_FRAMES_H

static __always_inline bool krp_arch_trace(struct krp_instance *inst, unsigned long ret_addr)
{
	return true;
}

static inline void krp_arch_trace_find(struct krp_instance *inst, unsigned long ret_addr,
				       unsigned long *slot) { }
static inline void krp_arch_trace_init_instance(struct krp_instance *inst) { }
static inline void krp_arch_trace_init(void) { }
static inline void krp_arch_trace_exit(void) { }
static inline bool krp_arch_trace_whole(void) { return true; }

#endif /* KRP_TRACE_BY_FRAMES_H */
