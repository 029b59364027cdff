/* The table of everything that templates can call, sorted by name. Rows of the same name differ in their use. */
#include "builtin.h"

#include <string.h>

#define ANY_CASE (IS_FILTER | ON_TEXT | OF_STR)

static const struct builtin builtins[] = {
	{ "!=", IS_TEST, "other", test_compare, OP2('!', '=') }, { "<", IS_TEST, "other", test_compare, '<' },
	{ "<=", IS_TEST, "other", test_compare, OP2('<', '=') },
	{ "==", IS_TEST, "other", test_compare, OP2('=', '=') }, { ">", IS_TEST, "other", test_compare, '>' },
	{ ">=", IS_TEST, "other", test_compare, OP2('>', '=') }, { "abs", IS_FILTER, "", number_abs, 0 },
	{ "append", OF_LIST, "item", list_append, 0 }, { "attr", IS_FILTER, "name", value_attr, 0 },
	{ "batch", IS_FILTER, "linecount ?fill_with", items_batch, 0 },
	{ "boolean", IS_TEST, "", test_kind, KIND(JV_BOOL) },
	{ "callable", IS_TEST, "", test_kind, JV_CALLABLE | KIND(JV_UNDEF) },
	{ "capitalize", ANY_CASE, "", text_in_case, TEXT_CAPITAL },
	{ "casefold", OF_STR, "", text_in_case, TEXT_FOLD },
	{ "center", OF_STR, "width ?fillchar", text_justify, 'c' },
	{ "center", IS_FILTER | ON_TEXT, "?width", text_justify, 'c' }, { "changed", OF_LOOP, NULL, loop_changed, 0 },
	{ "clear", OF_LIST | OF_DICT, "", value_clear, 0 }, { "copy", OF_LIST, "", items_list, 0 },
	{ "copy", OF_DICT, "", dict_copy, 0 }, { "count", IS_FILTER, "", items_length, 0 },
	{ "count", OF_STR, "sub ?start end", text_count, 0 }, { "count", OF_LIST | OF_TUPLE, "item", list_count, 0 },
	{ "cycle", OF_LOOP, NULL, loop_cycle, 0 }, { "cycler", IS_GLOBAL, NULL, global_cycler, 0 },
	{ "d", IS_FILTER, "?default_value boolean", value_default, 0 },
	{ "decode", OF_BYTES, "?encoding errors", bytes_decode, 0 },
	{ "default", IS_FILTER, "?default_value boolean", value_default, 0 },
	{ "defined", IS_TEST, "", test_kind, ~(int)KIND(JV_UNDEF) },
	{ "dict", IS_GLOBAL, NULL, global_dict, JV_DICT },
	{ "dictsort", IS_FILTER, "?case_sensitive by reverse", items_sort, SORT_DICT },
	{ "divisibleby", IS_TEST, "num", test_remainder, 2 }, { "e", IS_FILTER, "", text_escape, 0 },
	{ "encode", OF_STR, "?encoding errors", text_encode, 0 },
	{ "endswith", OF_STR, "suffix ?start end", text_has_affix, 1 },
	{ "eq", IS_TEST, "other", test_compare, OP2('=', '=') },
	{ "equalto", IS_TEST, "other", test_compare, OP2('=', '=') }, { "escape", IS_FILTER, "", text_escape, 0 },
	{ "escaped", IS_TEST, "", test_escaped, 0 }, { "even", IS_TEST, "", test_remainder, 0 },
	{ "expandtabs", OF_STR, "?tabsize", text_expandtabs, 0 }, { "extend", OF_LIST, "items", list_extend, 0 },
	{ "false", IS_TEST, "", test_bool, 0 }, { "filesizeformat", IS_FILTER, "?binary", number_filesizeformat, 0 },
	{ "filter", IS_TEST, "", test_builtin, IS_FILTER }, { "find", OF_STR, "sub ?start end", text_index, 0 },
	{ "first", IS_FILTER, "", items_end, 0 }, { "float", IS_FILTER, "?default", number_float, 0 },
	{ "float", IS_TEST, "", test_kind, KIND(JV_FLOAT) }, { "forceescape", IS_FILTER, "", text_escape, 1 },
	{ "format", IS_FILTER | ON_TEXT, NULL, text_percent, 0 }, { "format", OF_STR, NULL, text_format, 0 },
	{ "format_map", OF_STR, "mapping", text_format_map, 0 }, { "from_json", IS_FILTER, "", text_from_json, 0 },
	{ "fromjson", IS_FILTER, "", text_from_json, 0 },
	{ "fromkeys", OF_DICT, "iterable ?value", dict_fromkeys, 0 },
	{ "ge", IS_TEST, "other", test_compare, OP2('>', '=') },
	{ "get", OF_DICT, "key ?default", dict_get, DICT_GET },
	{ "greaterthan", IS_TEST, "other", test_compare, '>' },
	{ "groupby", IS_FILTER, "attribute ?default case_sensitive", items_groupby, 0 },
	{ "gt", IS_TEST, "other", test_compare, '>' }, { "hex", OF_BYTES, "", bytes_hex, 0 },
	{ "in", IS_TEST, "seq", test_compare, 'i' }, { "indent", IS_FILTER, "?width first blank", text_indent, 0 },
	{ "index", OF_STR, "sub ?start end", text_index, 2 },
	{ "index", OF_LIST | OF_TUPLE, "item ?start stop", list_index, 0 },
	{ "insert", OF_LIST, "index item", list_insert, 0 }, { "int", IS_FILTER, "?default base", number_int, 0 },
	{ "integer", IS_TEST, "", test_kind, KIND(JV_INT) | KIND(JV_BIG) },
	{ "isalnum", OF_STR, "", text_all, TEXT_ALNUM }, { "isalpha", OF_STR, "", text_all, TEXT_LETTER },
	{ "isascii", OF_STR, "", text_all, TEXT_ASCII }, { "isdecimal", OF_STR, "", text_all, TEXT_DIGIT },
	{ "isdigit", OF_STR, "", text_all, TEXT_DIGIT }, { "isidentifier", OF_STR, "", text_is_identifier, 0 },
	{ "islower", OF_STR, "", text_is_cased, TEXT_LOWER }, { "isnumeric", OF_STR, "", text_all, TEXT_NUMBER },
	{ "isprintable", OF_STR, "", text_all, TEXT_PRINTABLE }, { "isspace", OF_STR, "", text_all, TEXT_SPACE },
	{ "istitle", OF_STR, "", text_is_title, 0 }, { "isupper", OF_STR, "", text_is_cased, TEXT_UPPER },
	{ "items", IS_FILTER, "", value_items, 0 }, { "items", OF_DICT, "", dict_view, VIEW_ITEMS },
	{ "iterable", IS_TEST, "", test_kind, JV_ITERABLE | KIND(JV_LOOP) },
	{ "join", IS_FILTER, "?d attribute", items_join, 0 }, { "join", OF_STR, "iterable", items_join, 1 },
	{ "joiner", IS_GLOBAL, "?sep", global_joiner, 0 }, { "keys", OF_DICT, "", dict_view, VIEW_KEYS },
	{ "last", IS_FILTER, "", items_end, 1 }, { "le", IS_TEST, "other", test_compare, OP2('<', '=') },
	{ "length", IS_FILTER, "", items_length, 0 }, { "lessthan", IS_TEST, "other", test_compare, '<' },
	{ "lipsum", IS_GLOBAL, NULL, global_lipsum, 0 }, { "list", IS_FILTER, "", items_list, 0 },
	{ "ljust", OF_STR, "width ?fillchar", text_justify, '<' },
	{ "lower", ANY_CASE, "", text_in_case, TEXT_LOWER },
	{ "lower", IS_TEST | ON_TEXT, "", text_is_cased, TEXT_LOWER }, { "lstrip", OF_STR, "?chars", text_strip, 1 },
	{ "lt", IS_TEST, "other", test_compare, '<' }, { "maketrans", OF_STR, "x ?y z", text_maketrans, 0 },
	{ "map", IS_FILTER, NULL, items_map, 0 }, { "mapping", IS_TEST, "", test_kind, KIND(JV_DICT) },
	{ "max", IS_FILTER, "?case_sensitive attribute", items_extreme, 1 },
	{ "min", IS_FILTER, "?case_sensitive attribute", items_extreme, 0 },
	{ "namespace", IS_GLOBAL, NULL, global_dict, JV_NAMESPACE },
	{ "ne", IS_TEST, "other", test_compare, OP2('!', '=') }, { "none", IS_TEST, "", test_kind, KIND(JV_NONE) },
	{ "number", IS_TEST, "", test_kind, JV_NUMBERS | KIND(JV_BIG) }, { "odd", IS_TEST, "", test_remainder, 1 },
	{ "partition", OF_STR, "sep", text_partition, 0 }, { "pop", OF_LIST, "?index", list_pop, 0 },
	{ "pop", OF_DICT, "key ?default", dict_get, DICT_POP }, { "popitem", OF_DICT, "", dict_popitem, 0 },
	{ "pprint", IS_FILTER, "", text_pprint, 0 },
	{ "raise_exception", IS_GLOBAL, "message", global_raise_exception, 0 },
	{ "random", IS_FILTER, "", items_random, 0 }, { "range", IS_GLOBAL, "start ?stop step", global_range, 0 },
	{ "reject", IS_FILTER, NULL, items_select, 1 }, { "rejectattr", IS_FILTER, NULL, items_select, 3 },
	{ "remove", OF_LIST, "item", list_index, 1 }, { "removeprefix", OF_STR, "prefix", text_remove_affix, 0 },
	{ "removesuffix", OF_STR, "suffix", text_remove_affix, 1 },
	{ "replace", IS_FILTER | ON_TEXT, "old new ?count", text_replace, 1 },
	{ "replace", OF_STR, "old new ?count", text_replace, 0 }, { "reverse", IS_FILTER, "", items_reverse, 0 },
	{ "reverse", OF_LIST, "", items_reverse, 1 }, { "rfind", OF_STR, "sub ?start end", text_index, 1 },
	{ "rindex", OF_STR, "sub ?start end", text_index, 3 },
	{ "rjust", OF_STR, "width ?fillchar", text_justify, '>' },
	{ "round", IS_FILTER, "?precision method", number_round, 0 },
	{ "rpartition", OF_STR, "sep", text_partition, 1 }, { "rsplit", OF_STR, "?sep maxsplit", text_split, 1 },
	{ "rstrip", OF_STR, "?chars", text_strip, 2 }, { "safe", IS_FILTER | ON_TEXT, "", text_string, 1 },
	{ "sameas", IS_TEST, "other", test_sameas, 0 }, { "select", IS_FILTER, NULL, items_select, 0 },
	{ "selectattr", IS_FILTER, NULL, items_select, 2 }, { "sequence", IS_TEST, "", test_kind, JV_SIZED },
	{ "setdefault", OF_DICT, "key ?default", dict_get, DICT_SETDEFAULT },
	{ "slice", IS_FILTER, "slices ?fill_with", items_batch, 1 },
	{ "sort", IS_FILTER, "?reverse case_sensitive attribute", items_sort, SORT_ITEMS },
	{ "sort", OF_LIST, "?reverse", items_sort, SORT_LIST }, { "split", OF_STR, "?sep maxsplit", text_split, 0 },
	{ "splitlines", OF_STR, "?keepends", text_splitlines, 0 },
	{ "startswith", OF_STR, "prefix ?start end", text_has_affix, 0 },
	{ "strftime_now", IS_GLOBAL, "format", global_strftime_now, 0 },
	{ "string", IS_FILTER | ON_TEXT, "", text_string, 0 }, { "string", IS_TEST, "", test_kind, KIND(JV_STR) },
	{ "strip", OF_STR, "?chars", text_strip, 3 }, { "striptags", IS_FILTER | ON_TEXT, "", text_striptags, 0 },
	{ "sum", IS_FILTER, "?attribute start", items_sum, 0 }, { "swapcase", OF_STR, "", text_in_case, TEXT_SWAP },
	{ "test", IS_TEST, "", test_builtin, IS_TEST },
	{ "title", IS_FILTER | ON_TEXT, "", text_in_case, TEXT_HEADING },
	{ "title", OF_STR, "", text_in_case, TEXT_TITLE },
	{ "tojson", IS_FILTER, "?ensure_ascii indent separators sort_keys", text_tojson, 0 },
	{ "translate", OF_STR, "table", text_translate, 0 }, { "trim", IS_FILTER | ON_TEXT, "?chars", text_strip, 3 },
	{ "true", IS_TEST, "", test_bool, 1 },
	{ "truncate", IS_FILTER, "?length killwords end leeway", text_truncate, 0 },
	{ "undefined", IS_TEST, "", test_kind, KIND(JV_UNDEF) },
	{ "unique", IS_FILTER, "?case_sensitive attribute", items_unique, 0 },
	{ "update", OF_DICT, NULL, dict_update, 0 }, { "upper", ANY_CASE, "", text_in_case, TEXT_UPPER },
	{ "upper", IS_TEST | ON_TEXT, "", text_is_cased, TEXT_UPPER },
	{ "urlencode", IS_FILTER, "", text_urlencode, 0 },
	{ "urlize", IS_FILTER | ON_TEXT, "?trim_url_limit nofollow target rel extra_schemes", text_urlize, 0 },
	{ "values", OF_DICT, "", dict_view, VIEW_VALUES },
	{ "wordcount", IS_FILTER | ON_TEXT, "", text_wordcount, 0 },
	{ "wordwrap", IS_FILTER, "?width break_long_words wrapstring break_on_hyphens", text_wordwrap, 0 },
	{ "xmlattr", IS_FILTER, "?autospace", text_xmlattr, 0 }, { "zfill", OF_STR, "width", text_justify, '=' },
};

enum { BUILTINS = sizeof builtins / sizeof *builtins };

static int order(struct jv s, const char *name)
{
	int c = strncmp(s.s, name, s.n);

	return c ? c : name[s.n] ? -1 : 0;
}

const struct builtin *builtin_find(struct jv name, unsigned use)
{
	size_t low = 0, high = BUILTINS;

	if (!name.n || memchr(name.s, 0, name.n))
		return NULL;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (order(name, builtins[middle].name) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < BUILTINS && !order(name, builtins[low].name); low++)
		if (builtins[low].use & use)
			return &builtins[low];
	return NULL;
}
