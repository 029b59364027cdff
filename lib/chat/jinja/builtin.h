/* builtin: the functions in the table of builtins.c. A comment at each function explains the values of `what`. */
#ifndef JINJA_BUILTIN_H
#define JINJA_BUILTIN_H

#include "interpreter.h"
#include "text.h"

builtin_function global_cycler, global_dict, global_joiner, global_lipsum, global_raise_exception, global_range,
	global_strftime_now;

builtin_function number_abs, number_filesizeformat, number_float, number_int, number_round;
builtin_function test_bool, test_builtin, test_compare, test_escaped, test_kind, test_remainder, test_sameas;

builtin_function text_all, text_count, text_encode, text_escape, text_expandtabs, text_format, text_format_map,
	text_from_json, text_has_affix, text_in_case, text_indent, text_index, text_is_cased, text_is_identifier,
	text_is_title, text_justify, text_maketrans, text_partition, text_percent, text_pprint, text_remove_affix,
	text_replace, text_split, text_splitlines, text_string, text_strip, text_striptags, text_tojson,
	text_translate, text_truncate, text_urlencode, text_urlize, text_wordcount, text_wordwrap, text_xmlattr;
builtin_function bytes_decode, bytes_hex;

builtin_function items_batch, items_end, items_extreme, items_groupby, items_join, items_length,
	items_list, items_map, items_random, items_reverse, items_select, items_sort, items_sum, items_unique,
	value_attr, value_clear, value_default, value_items;
builtin_function list_append, list_count, list_extend, list_index, list_insert, list_pop, loop_changed, loop_cycle;

/* Appends s, padded with `fill` to `width` code points. align: '<', '>', '^', 'c' as str.center() does, or '=', which
 * pads after the first `head` bytes. */
void format_padded(struct env *e, struct jv s, struct jv fill, int64_t width, char align, size_t head);
struct jv text_cased(struct env *e, struct jv s, enum text_case to);
/* What lines are indented by, argument i: a string or a number of spaces. */
struct jv text_indentation(struct env *e, const struct call *c, int i);

enum { SORT_ITEMS, SORT_LIST, SORT_DICT };
enum { DICT_GET, DICT_SETDEFAULT, DICT_POP };
enum { VIEW_KEYS, VIEW_VALUES, VIEW_ITEMS };
builtin_function dict_copy, dict_fromkeys, dict_get, dict_popitem, dict_update, dict_view;
struct jv dict_items(struct env *e, const struct jv_dict *d);   /* as VIEW_ITEMS */

#endif
