/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading and writing the module's files, and saying what is wrong with that. */
#ifndef KRP_TOOL_PROC_H
#define KRP_TOOL_PROC_H

#include "model.h"

/* Where the files are; --proc changes it. */
extern const char *proc_dir;

char *proc_read(const char *name);
int proc_model(struct model *model);
int proc_control(const char *command, char *answer, size_t size);
void proc_complain(const char *name, int err);

#endif /* KRP_TOOL_PROC_H */
