// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading ELF files of 64 bits. They may be anything: nothing that is read of
 * them is believed before it is checked against the size of the file, and none
 * is mapped, as a file that shrinks meanwhile would be the end of this program.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_file.h"

/* No table of symbols is larger. */
#define READ_MAX	(1ULL << 30)

#if defined(__x86_64__)
#define MACHINE		EM_X86_64
#elif defined(__aarch64__)
#define MACHINE		EM_AARCH64
#else
#error "Which functions can be probed on this machine?"
#endif

/**
 * elf_why() - say why something is not to be had
 * @why: ELF_WHY_MAX bytes, filled in
 * @format: as for printf()
 *
 * Return: -1.
 */
int elf_why(char *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, ELF_WHY_MAX, format, args);
	va_end(args);
	/* Names come from files, and this goes to a terminal. */
	for (; *why; why++)
		if ((unsigned char)*why < ' ' || *why == 127)
			*why = '?';
	return -1;
}

/* A part of the file, with a 0 behind it; NULL if the file has no such part. */
static void *read_part(const struct elf_file *elf, uint64_t offset, uint64_t len)
{
	size_t done = 0;
	ssize_t n = 1;
	char *data;

	if (offset > elf->size || len > elf->size - offset || len > READ_MAX)
		return NULL;
	data = malloc(len + 1);
	while (data && done < len && n) {
		n = pread(elf->fd, data + done, len - done, offset + done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(data);
			return NULL;
		}
		done += n;
	}
	if (data)
		data[len] = '\0';
	return data;
}

/* @nr things of @size bytes each. */
static void *read_array(const struct elf_file *elf, uint64_t offset, uint64_t nr, size_t size)
{
	return nr <= elf->size / size ? read_part(elf, offset, nr * size) : NULL;
}

static int check_header(const struct elf_file *elf, const Elf64_Ehdr *eh, char *why)
{
	if (eh->e_ident[0] == '#' && eh->e_ident[1] == '!')
		return elf_why(why, "'%s' is a script: name the program that runs it", elf->path);
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return elf_why(why, "'%s' is no program or library: it is no ELF file", elf->path);
	if (eh->e_ident[EI_CLASS] == ELFCLASS32)
		return elf_why(why, "'%s' is of 32 bits: only functions of programs of 64 bits can be attached",
			       elf->path);
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB)
		return elf_why(why, "'%s' is for another kind of machine", elf->path);
	if (eh->e_machine != MACHINE)
		return elf_why(why, "'%s' is for another kind of machine (%u, and this is %u)",
			       elf->path, eh->e_machine, MACHINE);
	if (eh->e_type != ET_EXEC && eh->e_type != ET_DYN)
		return elf_why(why, "'%s' is neither a program nor a library, but an ELF file of type %u",
			       elf->path, eh->e_type);
	if (eh->e_phentsize != sizeof(Elf64_Phdr) ||
	    (eh->e_shoff && eh->e_shentsize != sizeof(Elf64_Shdr)))
		return elf_why(why, "'%s' is damaged: its headers are of another size", elf->path);
	return 0;
}

static int read_headers(struct elf_file *elf, const Elf64_Ehdr *eh, char *why)
{
	Elf64_Shdr *first = NULL;

	elf->nr_segments = eh->e_phnum;
	elf->nr_sections = eh->e_shoff ? eh->e_shnum : 0;
	/* Numbers that do not fit there are in the first section. */
	if (eh->e_shoff && (!eh->e_shnum || eh->e_phnum == PN_XNUM)) {
		first = read_part(elf, eh->e_shoff, sizeof(*first));
		if (first && !eh->e_shnum)
			elf->nr_sections = first->sh_size;
		if (first && eh->e_phnum == PN_XNUM)
			elf->nr_segments = first->sh_info;
		free(first);
	}
	elf->segments = read_array(elf, eh->e_phoff, elf->nr_segments, sizeof(Elf64_Phdr));
	elf->sections = read_array(elf, eh->e_shoff, elf->nr_sections, sizeof(Elf64_Shdr));
	if (!elf->segments || !elf->sections)
		return elf_why(why, "'%s' is damaged: its headers are not in it", elf->path);
	return 0;
}

/* The strings that a section goes with. */
static char *read_strings(const struct elf_file *elf, const Elf64_Shdr *section, size_t *len)
{
	const Elf64_Shdr *strings;

	if (section->sh_link >= elf->nr_sections)
		return NULL;
	strings = &elf->sections[section->sh_link];
	*len = strings->sh_size;
	return strings->sh_type == SHT_STRTAB ?
	       read_part(elf, strings->sh_offset, strings->sh_size) : NULL;
}

static int read_table(struct elf_file *elf, const Elf64_Shdr *section, struct elf_table *table)
{
	if (section->sh_entsize != sizeof(Elf64_Sym))
		return -1;
	table->nr = section->sh_size / sizeof(Elf64_Sym);
	table->syms = read_array(elf, section->sh_offset, table->nr, sizeof(Elf64_Sym));
	table->names = read_strings(elf, section, &table->names_len);
	return table->syms && table->names ? 0 : -1;
}

/* Those that are too short, or of another table, are as good as none. */
static void read_versions(struct elf_file *elf, const Elf64_Shdr *section)
{
	struct elf_table *table = &elf->tables[ELF_DYNSYM];

	if (section->sh_link < elf->nr_sections && !table->versions &&
	    elf->sections[section->sh_link].sh_type == SHT_DYNSYM &&
	    section->sh_size / sizeof(Elf64_Versym) >= table->nr)
		table->versions = read_array(elf, section->sh_offset, table->nr,
					     sizeof(Elf64_Versym));
}

static void add_version(struct elf_file *elf, size_t index, const char *name)
{
	const char **names;
	size_t nr = elf->nr_version_names;

	if (index >= nr) {
		names = realloc(elf->version_names, (index + 1) * sizeof(*names));
		if (!names)
			return;
		memset(names + nr, 0, (index + 1 - nr) * sizeof(*names));
		elf->version_names = names;
		elf->nr_version_names = index + 1;
	}
	elf->version_names[index] = name;
}

/* The definitions, each of which says where the next one is, and its name. */
static void read_version_names(struct elf_file *elf, const Elf64_Shdr *section)
{
	char *data = read_part(elf, section->sh_offset, section->sh_size);
	uint64_t at = 0, size = section->sh_size;
	size_t len = 0;
	Elf64_Verdaux aux;
	Elf64_Verdef def;

	if (!elf->version_strings)
		elf->version_strings = read_strings(elf, section, &len);
	while (data && elf->version_strings && at < size && size - at >= sizeof(def)) {
		memcpy(&def, data + at, sizeof(def));
		if (def.vd_aux < size - at && size - at - def.vd_aux >= sizeof(aux)) {
			memcpy(&aux, data + at + def.vd_aux, sizeof(aux));
			if (aux.vda_name < len)
				add_version(elf, def.vd_ndx & 0x7fff,
					    elf->version_strings + aux.vda_name);
		}
		/* Onwards alone, so that this ends. */
		if (!def.vd_next)
			break;
		at += def.vd_next;
	}
	free(data);
}

static int read_sections(struct elf_file *elf, char *why)
{
	static const unsigned int types[ELF_TABLES] = { SHT_SYMTAB, SHT_DYNSYM };
	size_t i, t;

	for (i = 0; i < elf->nr_sections; i++) {
		for (t = 0; t < ELF_TABLES; t++) {
			if (elf->sections[i].sh_type != types[t] || elf->tables[t].syms)
				continue;
			if (read_table(elf, &elf->sections[i], &elf->tables[t]))
				return elf_why(why, "'%s' is damaged: its symbols are not in it",
					       elf->path);
		}
	}
	for (i = 0; i < elf->nr_sections; i++) {
		if (elf->sections[i].sh_type == SHT_GNU_versym)
			read_versions(elf, &elf->sections[i]);
		if (elf->sections[i].sh_type == SHT_GNU_verdef && !elf->version_strings)
			read_version_names(elf, &elf->sections[i]);
	}
	return 0;
}

static int read_file(struct elf_file *elf, char *why)
{
	struct stat st;
	Elf64_Ehdr *eh;
	int ret;

	if (fstat(elf->fd, &st))
		return elf_why(why, "'%s': %s", elf->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return elf_why(why, "'%s' is no regular file", elf->path);
	elf->size = st.st_size;
	eh = read_part(elf, 0, sizeof(*eh));
	if (!eh)
		return elf_why(why, "'%s' is no program or library: it is too short", elf->path);
	ret = check_header(elf, eh, why);
	if (!ret)
		ret = read_headers(elf, eh, why);
	if (!ret)
		ret = read_sections(elf, why);
	free(eh);
	return ret;
}

/**
 * elf_open() - read a program's or a library's symbols
 * @elf: filled in
 * @path: the file; stays there until elf_close()
 * @why: ELF_WHY_MAX bytes, filled in if they cannot be had
 *
 * Return: 0, or -1 with nothing to be closed.
 */
int elf_open(struct elf_file *elf, const char *path, char *why)
{
	*elf = (struct elf_file){ .path = path };
	/* Not waiting for those who write to a pipe. */
	elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (elf->fd < 0 && errno == ENOENT)
		return elf_why(why, "there is no file '%s'", path);
	if (elf->fd < 0)
		return elf_why(why, "'%s': %s", path, strerror(errno));
	if (!read_file(elf, why))
		return 0;
	elf_close(elf);
	return -1;
}

/**
 * elf_close() - undo elf_open()
 * @elf: the file
 */
void elf_close(struct elf_file *elf)
{
	size_t t;

	for (t = 0; t < ELF_TABLES; t++) {
		free(elf->tables[t].syms);
		free(elf->tables[t].names);
		free(elf->tables[t].versions);
	}
	free(elf->version_names);
	free(elf->version_strings);
	free(elf->segments);
	free(elf->sections);
	close(elf->fd);
}

/* What is loaded from the file, to be executed. */
static bool is_text(const struct elf_file *elf, const Elf64_Phdr *ph)
{
	return ph->p_type == PT_LOAD && ph->p_flags & PF_X && ph->p_offset < elf->size &&
	       ph->p_filesz <= elf->size - ph->p_offset;
}

/**
 * elf_place() - where an address's instruction is in the file
 * @elf: the file
 * @addr: as its symbols have it
 * @offset: set
 *
 * Return: is it there, to be executed?
 */
bool elf_place(const struct elf_file *elf, uint64_t addr, uint64_t *offset)
{
	size_t i;

	for (i = 0; i < elf->nr_segments; i++) {
		const Elf64_Phdr *ph = &elf->segments[i];

		if (!is_text(elf, ph) || addr < ph->p_vaddr || addr - ph->p_vaddr >= ph->p_filesz)
			continue;
		*offset = addr - ph->p_vaddr + ph->p_offset;
		return true;
	}
	return false;
}

/**
 * elf_executes() - is a place in the file to be executed?
 * @elf: the file
 * @offset: the place
 *
 * Return: is it?
 */
bool elf_executes(const struct elf_file *elf, uint64_t offset)
{
	size_t i;

	for (i = 0; i < elf->nr_segments; i++) {
		const Elf64_Phdr *ph = &elf->segments[i];

		if (is_text(elf, ph) && offset >= ph->p_offset &&
		    offset - ph->p_offset < ph->p_filesz)
			return true;
	}
	return false;
}
