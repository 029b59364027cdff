# Writes unicode_table.c from UnicodeData.txt. `make unicode` runs it; it is not part of the build. Each line of the input
# describes a code point in fields separated by semicolons: the code in hexadecimal, the name, the general category, and
# more. Two lines whose names end in "First>" and "Last>" describe a range. Classes are those of enum unicode_class.
BEGIN {
	FS = ";"
	LO = 5; SYMBOL = 9; BLANK = 10; NEWLINE = 11; SPACE = 12
	CODES = 1114112; BLOCK = 128; PER_LINE = 26
}

function hex(s,   i, n) {
	for (i = 1; i <= length(s); i++)
		n = n * 16 + index("0123456789ABCDEF", substr(s, i, 1)) - 1
	return n + 0
}

function from_category(category,   i) {
	if (i = index("LuLlLtLmLo", category))
		return (i + 1) / 2
	if (i = index("MNPS", substr(category, 1, 1)))
		return i + 5
	return category ~ /^Z/ ? SPACE : 0
}

function set(first, last, class) {
	for (; first <= last; first++)
		class_of[first] = class
}

# n numbers, each followed by a comma
function print_rows(list, n,   number, i) {
	split(list, number, ",")
	for (i = 1; i <= n; i++)
		printf "%s%d,%s", i % PER_LINE == 1 ? "\t" : "", number[i], i % PER_LINE && i < n ? "" : "\n"
}

{
	code = hex($1)
	if ($2 !~ /Last>$/)
		first = code
	set(first, code, from_category($3))
}

END {
	set(9, 12, SPACE); set(133, 133, SPACE); set(10, 10, NEWLINE); set(13, 13, NEWLINE); set(32, 32, BLANK)
	# Debian 12 has Unicode 15.0, but the tokenizers use 15.1, which added these letters and symbols. Newer files
	# contain them.
	set(hex("2EBF0"), hex("2EE5D"), LO); set(hex("2FFC"), hex("2FFF"), SYMBOL); set(hex("31EF"), hex("31EF"), SYMBOL)
	for (c = 0; c < CODES; c += BLOCK) {
		block = ""
		for (i = c; i < c + BLOCK; i++)
			block = block (class_of[i] + 0) ","
		if (!(block in number)) {
			number[block] = n
			different[n++] = block
		}
		blocks = blocks (number[block] + 0) ","
	}
	if (n > 256) {
		print "unicode.awk: more than 256 different blocks" > "/dev/stderr"
		exit 1
	}
	print "/* Made by unicode.awk from UnicodeData.txt: do not edit. Entries are enum unicode_class. */"
	print "#include \"unicode.h\"\n"
	print "const unsigned char unicode_block[UNICODE_END / " BLOCK "] = {"
	print_rows(blocks, CODES / BLOCK)
	print "};\n\nconst unsigned char unicode_in_block[][" BLOCK "] = {"
	for (i = 0; i < n; i++) {
		print "\t{"
		print_rows(different[i], BLOCK)
		print "\t},"
	}
	print "};"
}
