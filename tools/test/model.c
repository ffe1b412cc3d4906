// SPDX-License-Identifier: GPL-2.0-only
/* What the module's files say, of this version and of others. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "tap.h"

static const char control[] =
	"id state functions left_out gone hits skipped missed_empty missed_recursion missed_unwatched missed_removed missed_exited inflight bytes patterns\n"
	"2 attached 10 1 0 100 0 1 2 3 4 5 6 4096 vfs_* !vfs_get*\n"
	"1 gone 1 0 1 7 0 0 0 0 0 0 0 512 ext4:*\n"
	"# ok: attached as 2: 10 functions, 1 left out\n";
static const char latency[] =
	"id function calls total_ns max_ns lt_2 lt_4 lt_8 more\n"
	"2 vfs_write 3 12 6 0 1 2 0\n"
	"2 vfs_read 1 9 9 0 0 0 1\n"
	"2 vfs_write 2 4 3 1 1 0 0\n"
	"1 ext4_file_read_iter 7 7 1 7 0 0 0\n";

static int parse(struct model *model, const char *a, const char *b)
{
	return model_parse(model, strdup(a), b ? strdup(b) : NULL);
}

static void test_whole(void)
{
	const struct attachment *att;
	const struct function *func;
	struct model model;

	if (!CHECK_EQ(parse(&model, control, latency), 0))
		return;
	CHECK_EQ(model.nr_attached, 2);
	CHECK_EQ(model.attached[0].id, 1);
	CHECK(!strcmp(model.attached[0].state, "gone"));
	CHECK(!strcmp(model.note, "ok: attached as 2: 10 functions, 1 left out"));
	att = model_attachment(&model, 2);
	if (CHECK(att)) {
		CHECK(!strcmp(att->patterns, "vfs_* !vfs_get*"));
		CHECK_EQ(attachment_missed(att), 15);
		CHECK_EQ(att->inflight, 6);
	}
	CHECK(!model_attachment(&model, 3));
	/* Two functions of one name are one. */
	CHECK_EQ(model.nr_functions, 3);
	func = model_function(&model, &(struct function){ .id = 2, .name = "vfs_write" });
	if (CHECK(func)) {
		CHECK_EQ(func->hist.calls, 5);
		CHECK_EQ(func->hist.total_ns, 16);
		CHECK_EQ(func->hist.max_ns, 6);
		CHECK_EQ(func->hist.buckets[1], 2);
	}
	CHECK_EQ(model.edges.nr, 4);
	CHECK_EQ(model.edges.below[3], UINT64_MAX);
	model_free(&model);
}

static void test_other_versions(void)
{
	struct model model;

	/* Fewer columns: what is not there is 0. */
	if (CHECK_EQ(parse(&model, "id patterns\n5 vfs_*\n", "id function lt_2 more\n5 f 1 2\n"), 0)) {
		CHECK_EQ(model.attached[0].hits, 0);
		CHECK_EQ(model.functions[0].hist.calls, 3);
		CHECK_EQ(model.functions[0].hist.max_ns, 0);
		model_free(&model);
	}
	/* More, in between and behind. */
	if (CHECK_EQ(parse(&model, "new id hits newer patterns\n0 5 6 7 a b\n",
			   "id new function lt_2 lt_4 more newest\n5 0 f 1 2 3 9\n"), 0)) {
		CHECK_EQ(model.attached[0].hits, 6);
		CHECK(!strcmp(model.attached[0].patterns, "a b"));
		CHECK_EQ(model.functions[0].hist.calls, 6);
		model_free(&model);
	}
}

static void test_other_files(void)
{
	static const char * const bad[] = {
		"id function calls\n",			/* no buckets */
		"id function lt_4 lt_2 more\n",		/* not in order */
		"id function lt_2 x lt_4 more\n",	/* not together */
		"id function lt_x more\n",
		"id lt_2 more\n",			/* of what */
		"",
	};
	struct model model;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		tap_note("%zu", i);
		CHECK_EQ(parse(&model, control, bad[i]), -EINVAL);
	}
	CHECK_EQ(parse(&model, "", latency), -EINVAL);
	if (CHECK_EQ(parse(&model, control, NULL), 0))
		model_free(&model);
}

/* Rows that are cut off, and attachments that are in one file only. */
static void test_changing(void)
{
	size_t len;

	for (len = 0; len < sizeof(latency); len++) {
		struct model model;

		if (model_parse(&model, strdup(control), strndup(latency, len)))
			continue;
		CHECK_EQ(model.nr_attached, 2);
		CHECK(model.nr_functions <= 3);
		model_free(&model);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(whole),
		TAP_TEST(other_versions),
		TAP_TEST(other_files),
		TAP_TEST(changing),
	};

	return tap_run(tests, sizeof(tests) / sizeof(*tests));
}
