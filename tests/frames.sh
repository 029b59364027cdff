# Frames made by hand, for tests that cannot have them from a program; `. "$TESTS/frames.sh"`.

words() { # N...: little-endian words
	for n; do
		printf "$(printf '\\%03o\\%03o\\%03o\\%03o' \
			$((n & 255)) $((n >> 8 & 255)) $((n >> 16 & 255)) $((n >> 24 & 255)))"
	done
}
frame() { # KIND ROWS COLS TYPE FLAGS POS SEQ WORD...
	printf 'lms1%s' "$1"
	shift
	words "$@"
}
floats() { # the words of some numbers
	for x; do
		case $x in
		0) echo 0;; 1) echo 1065353216;; 2) echo 1073741824;; 3) echo 1077936128;; 4) echo 1082130432;; 
		5) echo 1084227584;; 9) echo 1091567616;;
		-1) echo 3212836864;; -3) echo 3225419776;; tiny) echo 71362;; nan) echo 2143289344;;
		inf) echo 2139095040;; -inf) echo 4286578688;;
		esac
	done
}
card() { # N_VOCAB EOG...: of vocabulary 0000000200000001
	n=$1
	shift
	frame card $((8 + $#)) 1 26 0 0 0 1 2 "$n" 0 0 0 0 0 "$@"
}
ids() { # POS ID...: of a prompt
	pos=$1
	shift
	frame 'ids ' $# 1 26 0 "$pos" 0 "$@"
}
drawn() { # POS ID...: by a sampler
	pos=$1
	shift
	frame 'ids ' $# 1 26 1 "$pos" 0 "$@"
}
opts() { # SEQ OPTION...
	seq=$1
	shift
	frame opts $(printf '%s\0' "$@" | wc -c) 1 24 0 0 $seq
	printf '%s\0' "$@"
}
row() { # POS NUMBER...
	pos=$1
	shift
	frame logi 1 $# 0 0 "$pos" 0 $(floats "$@")
}
