# Writes unicode_table.c from UnicodeData.txt. `make unicode` runs it; it is not part of the build. Each line of the
# input describes a code point in fields separated by semicolons: the code in hexadecimal, the name, the general
# category, and more; the sixth is the decomposition and the fourteenth the lower-case letter. Two lines whose names end
# in "First>" and "Last>" describe a range. Classes are those of enum unicode_class.
BEGIN {
	FS = ";"
	LO = 5; SYMBOL = 9; BLANK = 10; NEWLINE = 11; SPACE = 12; CONTROL = 13; LONG = 31
	CODES = 1114112; BLOCK = 128; PER_LINE = 26; RUNS_PER_LINE = 4
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
	return category ~ /^Z/ ? SPACE : CONTROL
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

# Adds code, which is mapped to `to`, to the last run of the list or starts another. moves: a run's values rise with its
# codes.
function add_run(code, to, moves,   step) {
	step = code - last_code
	if (runs && to == start_to + moves * (code - start)
	    && (step == every || (last_code == start && step <= 1 + moves)))
		every = step
	else {
		end_run()
		start = code
		start_to = to
		every = 1
		runs++
	}
	last_code = code
}

function end_run() {
	if (runs)
		printf "%s{%d,%d,%d,%d},%s", runs % RUNS_PER_LINE == 1 ? "\t" : "", start, last_code, start_to, every,
			runs % RUNS_PER_LINE ? "" : "\n"
}

function print_runs(name, map, moves,   c) {
	runs = 0
	print "\nconst struct unicode_run unicode_" name "s[] = {"
	for (c = 0; c < CODES; c++)
		if (c in map)
			add_run(c, map[c], moves)
	end_run()
	print (runs % RUNS_PER_LINE ? "\n" : "") "};\nconst size_t unicode_n_" name "s = " runs ";"
}

# The first character of the full canonical decomposition. Syllables of Hangul are decomposed by a formula.
function find_bases(   c, base) {
	for (c in first_part) {
		for (base = first_part[c]; base in first_part;)
			base = first_part[base]
		base_of[c] = base
	}
	for (c = 44032; c <= 55203; c++)
		base_of[c] = 4352 + int((c - 44032) / 588)
}

{
	code = hex($1)
	if ($2 !~ /Last>$/)
		first = code
	set(first, code, from_category($3))
	if ($6 != "" && $6 !~ /^</) {
		split($6, part, " ")
		first_part[code] = hex(part[1])
	}
	if ($14 != "")
		lower_of[code] = hex($14)
}

END {
	set(9, 12, SPACE); set(133, 133, SPACE); set(10, 10, NEWLINE); set(13, 13, NEWLINE); set(32, 32, BLANK)
	# Debian 12 has Unicode 15.0, but the tokenizers use 15.1, which added these letters and symbols. Newer files
	# contain them.
	set(hex("2EBF0"), hex("2EE5D"), LO)
	set(hex("2FFC"), hex("2FFF"), SYMBOL); set(hex("31EF"), hex("31EF"), SYMBOL)
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
	print "};\n\nconst unsigned char unicode_byte[256] = {"
	bytes = different[0]
	for (i = BLOCK; i < 256; i++)
		bytes = bytes LONG ","
	print_rows(bytes, 256)
	print "};"
	print_runs("lower", lower_of, 1)
	find_bases()
	print_runs("base", base_of, 0)
}
