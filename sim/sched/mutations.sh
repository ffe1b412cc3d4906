# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Bugs to plant into objpool*.[ch], each of which the simulator must find. Lists
# `mutation NAME FILE WHAT SED`: an extended regular expression substitution
# over the whole file as one line, and what it breaks. A substitution that
# changes nothing is an error: the code has moved on and the rule has to.

mutation no-head-reread objpool.c \
	'pop gives a ring up without looking whether head has moved meanwhile' \
	's/now = atomic64_read\(&slot->head\);\s*if \(now == head\)\s*return NULL;/return NULL;\n\t\tnow = head;/'

mutation no-lap-parity objpool.c \
	'any cell that is not NULL counts as filled, old ones too' \
	's/\(cell & 1\) == krp_lap\(head, slot->mask\)/cell/'

mutation publish-first objpool.c \
	'push writes the cell before it has reserved the position' \
	's/(was = this_cpu_cmpxchg\(pool->slots->tail)/smp_store_release(\&slot->put_cells[tail \& slot->put_mask], (unsigned long)obj | krp_lap(tail, slot->put_mask));\n\t\t\1/; s/(\t\ttail = was;\n\t\}).*(\n\treturn true;\n\}\n\n\/\* Takes any object that lies at home)/\1\2/'

mutation head-2-bit objpool.c \
	'head is compared by its lowest two bits only, as if it wrapped at four' \
	's/(if \(likely\()(atomic64_try_cmpxchg_release)/\1(head = (atomic64_read(\&slot->head) ^ head) \& 3 ? head : slot->head.counter,\n\t\t\t\t   \2/; s/&head, head \+ 1\)/&)/'

mutation cell-after-head objpool.c \
	'pop moves head first and reads the cell then' \
	's/return \(void \*\)\(cell & ~1UL\)/return (void *)(READ_ONCE(slot->cells[head \& slot->mask]) \& ~1UL)/'

mutation plain-head objpool.c \
	'pop moves head by a plain write' \
	's/atomic64_try_cmpxchg_release\(&slot->head, &head, head \+ 1\)/({ atomic64_set(\&slot->head, head + 1); 1; })/'

mutation no-full-check objpool.c \
	'push does not look at head: it overwrites what nobody has taken yet' \
	's/if \(tail - head >= cells\)\s*return false;//'

mutation full-off-by-one objpool.c \
	'push takes a ring with all cells in use for one with room' \
	's/tail - READ_ONCE\(slot->head_seen\) >= cells/tail - READ_ONCE(slot->head_seen) > cells/; s/tail - head >= cells/tail - head > cells/'

mutation no-full-recheck objpool.c \
	'push does not check for room again after an NMI has moved tail' \
	's/was = (this_cpu_cmpxchg\(pool->slots->tail, tail, tail \+ 1\));/while ((was = \1) != tail)\n\t\t\ttail = was;/'

mutation plain-tail objpool.c \
	'push moves tail by a plain write: an NMI between loses an object' \
	's/was = this_cpu_cmpxchg\(pool->slots->tail, tail, tail \+ 1\);/WRITE_ONCE(slot->tail, tail + 1);\n\t\twas = tail;/'

mutation wait-for-push objpool.c \
	'pop waits until an unfinished push has finished' \
	's/if \(now == head\)/if (now == head \&\& READ_ONCE(slot->tail) == head)/'

mutation plain-stash-push objpool.h \
	'push looks whether the stash is empty, and fills it after that' \
	's/!this_cpu_cmpxchg\(pool->slots->stash, NULL, obj\)/({\n\t\tvoid **stash = raw_cpu_ptr(\&pool->slots->stash);\n\t\tvoid *was = READ_ONCE(*stash);\n\n\t\tif (!was)\n\t\t\tWRITE_ONCE(*stash, obj);\n\t\t!was;\n\t})/'

mutation plain-stash-pop objpool.h \
	'pop reads the stash, and empties it after that' \
	's/= this_cpu_xchg\(pool->slots->stash, NULL\);/= READ_ONCE(raw_cpu_ptr(pool->slots)->stash);\n\n\tWRITE_ONCE(raw_cpu_ptr(pool->slots)->stash, NULL);/'

mutation plain-home-take objpool.c \
	'pop clears a home bit without looking whether it was the one to do it' \
	's/if \(!test_and_clear_bit\(bit, chunk->home\)\)\s*continue;/clear_bit(bit, chunk->home);/'

mutation plain-home-put objpool.c \
	'push sets a home bit by reading and writing the word' \
	's/if \(test_and_set_bit\(header->index, chunk->home\)\) \{[^}]*\}/WRITE_ONCE(chunk->home[BIT_WORD(header->index)],\n\t\t   READ_ONCE(chunk->home[BIT_WORD(header->index)]) | BIT_MASK(header->index));/'

mutation count-after-bit objpool.c \
	'push counts an object at home only after it is there: a pop sees none' \
	's/\tatomic_inc\(&chunk->at_home\);(.*test_and_set_bit[^}]*)atomic_dec\(&chunk->at_home\);([^}]*\})/\1\2\n\tatomic_inc(\&chunk->at_home);/'

mutation uncount-before-bit objpool.c \
	'pop takes an object at home off the count before it has it' \
	's/(if \(!test_and_clear_bit\(bit, chunk->home\)\))\s*continue;\s*atomic_dec\(&chunk->at_home\);/atomic_dec(\&chunk->at_home);\n\t\t\t\1 {\n\t\t\t\tatomic_inc(\&chunk->at_home);\n\t\t\t\tcontinue;\n\t\t\t}/'

mutation never-uncounted objpool.c \
	'pop leaves an object that it took from home on the count' \
	's/(continue;\s*)atomic_dec\(&chunk->at_home\);/\1/'

mutation hint-no-wrap objpool.c \
	'the search for an object at home ends at the last word and does not go on at the first' \
	's/for \(n = 0; n < words; n\+\+\)/for (n = 0; first + n < words; n++)/'

mutation steal-stride objpool.c \
	'stealing leaps over CPUs that it does not come back to' \
	's/at \+ 65537u/at + 2/'

mutation steal-one-node objpool.c \
	'stealing does not go on to the next node' \
	's/for \(left = krp_nr_cpus; left;/for (left = krp_nr_cpus; left == krp_nr_cpus;/'

mutation skip-victim objpool.c \
	'stealing leaves out the CPU that it last took from' \
	's/if \(victim != cpu\) \{.*(\tfor \(left = krp_nr_cpus)/\1/'

mutation no-last-cpu objpool.c \
	'stealing leaves out the last CPU of each node, as if it were absent' \
	's/i < size; i\+\+/i + 1 < size; i++/'

mutation no-home-steal objpool.c \
	'stealing looks at rings only, not at homes' \
	's/obj = krp_slot_take\(pool, per_cpu_ptr\(pool->slots, order\[at\]\)\)/obj = krp_ring_take(per_cpu_ptr(pool->slots, order[at]))/'

mutation no-own-home objpool.c \
	'pop does not look at the homes of its own CPU' \
	's/obj = krp_slot_take\(pool, own\) \?:/obj = krp_ring_take(own) ?:/'

mutation no-spare-objects objpool_setup.c \
	'no object is allocated beyond those promised, and stashes keep some' \
	's/pool->nr_total = nr_objs \+ cpus;/pool->nr_total = nr_objs;/'

mutation no-double-check objpool.c \
	'push does not notice that the object lies in the stash already' \
	's/unlikely\(READ_ONCE\(own->stash\) == obj\)/0/'

mutation no-cookie objpool.h \
	'push takes foreign pointers' \
	's/!obj \|\| krp_objpool_header\(obj\)->cookie != pool->cookie/!obj/'

mutation push-migrates objpool.c \
	'push may be moved to another CPU between reading tail and reserving it' \
	's/(.*)preempt_disable_notrace\(\);(.*)preempt_enable_notrace\(\);/\1\2/'

mutation grow-forgets objpool_setup.c \
	'a second grown chunk makes the pool forget the first' \
	's/grown->next = pool->grown;/grown->next = NULL;/'

mutation grown-not-taken objpool.c \
	'pop does not look at grown chunks' \
	's/ \?: krp_grown_take\(pool\)//; s/krp_grown_take/unused/'

mutation plain-drop objpool.c \
	'drop counts down by reading and writing' \
	's/!atomic_long_dec_and_test\(&pool->refs\)/({\n\t\tlong refs = atomic_long_read(\&pool->refs) - 1;\n\n\t\tatomic_long_set(\&pool->refs, refs);\n\t\trefs;\n\t})/'

mutation fini-keeps-stashes objpool.c \
	'fini does not take back what lies in the stashes' \
	's/count \+= !!xchg\(&slot->stash, NULL\);/(void)slot;/'

mutation drop-frees-twice objpool.c \
	'fini frees the pool whether objects are out or not' \
	's/if \(atomic_long_sub_and_test\(count, &pool->refs\)\)/atomic_long_sub_and_test(count, \&pool->refs);/'
