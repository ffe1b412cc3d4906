/* SPDX-License-Identifier: GPL-2.0-only */
/* Where functions are in programs and libraries: ELF files of 64 bits. */
#ifndef KRP_TOOL_ELF_FILE_H
#define KRP_TOOL_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_WHY_MAX	1024

/**
 * struct elf_table - a table of symbols
 * @syms: they
 * @nr: how many
 * @names: what their st_name points into, with a 0 behind it
 * @names_len: how much, without that 0
 * @versions: an entry for each; NULL if there are none
 */
struct elf_table {
	Elf64_Sym *syms;
	size_t nr;
	char *names;
	size_t names_len;
	Elf64_Versym *versions;
};

#define ELF_SYMTAB	0
#define ELF_DYNSYM	1
#define ELF_TABLES	2

/**
 * struct elf_file - what has been read of a file
 * @path: its name, for messages
 * @fd: the file
 * @size: its bytes: nothing is read behind them
 * @segments: program headers
 * @nr_segments: how many
 * @sections: section headers
 * @nr_sections: how many
 * @tables: .symtab and .dynsym; empty if it does not have them
 * @version_names: what the file defines, by index; NULL in between
 * @nr_version_names: how many
 * @version_strings: what they point into
 */
struct elf_file {
	const char *path;
	int fd;
	uint64_t size;
	Elf64_Phdr *segments;
	size_t nr_segments;
	Elf64_Shdr *sections;
	size_t nr_sections;
	struct elf_table tables[ELF_TABLES];
	const char **version_names;
	size_t nr_version_names;
	char *version_strings;
};

/* elf_file.c: reading */

int elf_open(struct elf_file *elf, const char *path, char *why);
void elf_close(struct elf_file *elf);
bool elf_place(const struct elf_file *elf, uint64_t addr, uint64_t *offset);
bool elf_executes(const struct elf_file *elf, uint64_t offset);
[[gnu::format(printf, 2, 3)]] int elf_why(char *why, const char *format, ...);

static inline const char *elf_name(const struct elf_table *table, size_t i)
{
	return table->syms[i].st_name < table->names_len ?
	       table->names + table->syms[i].st_name : "";
}

/* elf_find.c: looking up */

int elf_function(const struct elf_file *elf, const char *name, uint64_t *offset, char *why);

#endif /* KRP_TOOL_ELF_FILE_H */
