/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What people attach from a shell: functions whose calls are counted and timed.
 * Shared by control.c, which takes the commands, control_uret.c, which has those
 * for functions of programs, and latency.c.
 */
#ifndef KRP_ATTACH_H
#define KRP_ATTACH_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "krp_multi.h"

struct proc_dir_entry;
struct seq_file;

#define KRP_COMMAND_MAX		2048
#define KRP_ANSWER_LEN		256

/**
 * struct krp_answer - what became of a command
 * @text: a line for people; empty if there was no command
 */
struct krp_answer {
	char text[KRP_ANSWER_LEN];
};

/*
 * Bucket i counts calls of 2^i to 2^(i+1) - 1 nanoseconds, bucket 0 also those
 * of none, the last one also all that are longer: 137 seconds and more.
 */
#define KRP_HIST_BUCKETS	38

/**
 * struct krp_hist - one CPU's share of a function's latencies
 * @total_ns: of all calls
 * @max_ns: of the longest call
 * @buckets: calls by latency
 */
struct krp_hist {
	u64 total_ns;
	u64 max_ns;
	u64 buckets[KRP_HIST_BUCKETS];
};

struct krp_latency;
struct krp_uattach;

/**
 * struct krp_attach - functions that were attached by one command
 * @multi: the probe, if they are the kernel's
 * @user: the probes, if they are programs'; NULL if not
 * @latency: its histograms; NULL until they are there, calls are not timed then
 * @id: for people
 * @list: on krp_attached
 * @patterns: as they were given
 */
struct krp_attach {
	struct krp_multi multi;
	struct krp_uattach *user;
	struct krp_latency *latency;
	unsigned int id;
	struct list_head list;
	char patterns[];
};

/* Protects krp_attached and all on it; taken before krp_mutex. */
extern struct mutex krp_attach_mutex;
extern struct list_head krp_attached;

/* control.c */

__printf(3, 4) int krp_answer(struct krp_answer *answer, int ret, const char *fmt, ...);
int krp_attach_refused(struct krp_answer *answer);
int krp_attach_time(struct krp_attach *att, unsigned int functions, struct krp_answer *answer);
void krp_attach_add(struct krp_attach *att);
int krp_control_init(struct proc_dir_entry *dir);

/* control_uret.c */

int krp_command_uattach(char *text, struct krp_answer *answer);
void krp_uattach_free(struct krp_uattach *user);
unsigned int krp_uattach_functions(const struct krp_uattach *user);
void krp_uattach_counts(const struct krp_uattach *user, struct krp_rethook_counts *counts);
void krp_uattach_name(struct seq_file *m, const struct krp_uattach *user, unsigned int index);

/* latency.c */

void krp_latency_exit(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
		      struct pt_regs *regs);
void krp_latency_returned(struct krp_latency *lat, unsigned int index, u64 since);
size_t krp_latency_need(unsigned int functions);
size_t krp_latency_limit(void);
size_t krp_latency_bytes(const struct krp_latency *lat);
struct krp_latency *krp_latency_alloc(unsigned int functions);
void krp_latency_free(struct krp_latency *lat);
int krp_latency_init(struct proc_dir_entry *dir);

#endif /* KRP_ATTACH_H */
