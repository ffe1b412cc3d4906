/* SPDX-License-Identifier: GPL-2.0-only */
/* The tool's commands. Each takes its own arguments, argv[0] its name. */
#ifndef KRP_TOOL_COMMANDS_H
#define KRP_TOOL_COMMANDS_H

#include <stdbool.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Exit statuses beside 0. */
#define EXIT_FAILED	1
#define EXIT_USAGE	2

/* The module takes no longer ones. */
#define COMMAND_MAX	2048

int command_attach(int argc, char **argv);
int command_uattach(int argc, char **argv);
int command_detach(int argc, char **argv);
int command_list(int argc, char **argv);
int command_hist(int argc, char **argv);
int command_top(int argc, char **argv);
int command_json(int argc, char **argv);
int command_prometheus(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_help(int argc, char **argv);

/* help.c */

bool help_asked(int argc, char **argv);
[[gnu::format(printf, 2, 3)]] int help_usage(const char *command, const char *format, ...);
void help_command(const char *name);
bool help_number(const char *text, unsigned long long *number);

#endif /* KRP_TOOL_COMMANDS_H */
