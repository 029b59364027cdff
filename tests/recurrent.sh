# What the tests of layers with recurrent state share, after lib.sh.
state=test-recurrent-$$ copied=test-recurrent-$$-copy
trap '"$BIN/kv" rm $state $copied 2>/dev/null' EXIT
# across three extents of the state
i=0
while [ $i -lt 300 ]; do
	echo $((i * i % 263))
	i=$((i + 1))
done >ids

# The first n ids, then others: from a segment cut back, from its fork, and afresh.
forks() { # N
	"$HELP/stream" make <ids | "$BIN/fwd" $options --kv $state "$model" >/dev/null
	expect 0 "$BIN/kv" fork $state $copied
	{ head -n $1 ids; echo "7 8 9 10"; } | logits "$model" $options --all >afresh
	for segment in $state $copied; do
		echo "7 8 9 10" | "$HELP/stream" make -p $1 | "$BIN/fwd" --all $options --kv $segment "$model" |
			"$HELP/stream" rows >one
		[ -s one ] && tail -c "$(wc -c <one)" afresh | cmp -s - one || echo "$1 of 300: not the same"
	done
	"$BIN/kv" rm $state $copied
}

# fwd is killed nine times in the middle of a prompt of one id a frame.
kills() {
	logits "$model" $options <ids >golden
	"$HELP/stream" make -s 1 <ids | "$HELP/under" time took "$BIN/fwd" $options --kv $state "$model" >/dev/null
	"$BIN/kv" rm $state
	for turn in 1 2 3 4 5 6 7 8 9; do
		"$HELP/stream" make -s 1 <ids |
			"$HELP/under" kill 9 $(($(cat took) * turn / 10)) \
				"$BIN/fwd" $options --kv $state "$model" >/dev/null
		logits "$model" $options --kv $state <ids | cmp -s - golden ||
			echo "killed at $turn tenths: not the same"
		"$BIN/kv" rm $state
	done 2>/dev/null
}

# The same bits whatever the backend, threads and batches, and from segments that were cut back, forked, or left by a
# fwd that was killed.
recurrent() { # MODEL NAME
	model=$1
	options="-c 512"
	same "$model" $2 $options
	for n in 1 2 127 128 129 130 256 299; do
		forks $n
	done
	kills
	echo "$2: cuts, forks, kills"
}
