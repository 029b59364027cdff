# What the tests of the shared reference models share, after lib.sh. A test calls each_shared with its own function.
models=$SHARED/models

# each_shared FUNCTION: calls it with $file, $name, $path (without .gguf), the prompt's file $ids and options of fwd for
# each model. Where fwd refuses one, the function returns the status of `refused`, and the model counts as skipped.
each_shared() {
	for file in "$models"/*.gguf "$models"/families/*/*.gguf "$SHARED"/formats/models/*.gguf; do
		path=${file%.gguf}
		name=${path##*/}
		ids=$path.ids
		[ -f "$ids" ] || ids=${path%/*}/${name%%-*}.ids
		options=
		[ $name != llama4-long ] || options="-c 8448"
		"$1"
	done
	[ ! -f skipped ] || sort -k 2 skipped | awk -F' : ' '
		$2 != cause { if (n) print line " (" n " cases)"; cause = $2; line = "skip " cause ":"; n = 0 }
		{ line = line " " $1; n++ }
		END { print line " (" n " cases)" }'
}

# Whether fwd said in ./caught that it does not support the model yet; notes that.
refused() {
	grep -q 'is not supported\|unknown for architecture' caught || return 1
	sed "s/.*gguf: /$name : / ; s/ (fwd --list.*// ; s/: tensor .*: type/: type/" caught >>skipped
}

# Whether matrices are quantised, so that fwd and the peer round activations.
quantised() {
	case $name in
	*-Q[0-9]* | *-IQ* | *-TQ* | *-MXFP4* | *-NVFP4* | *-K | *-mixK | *-mixIQ | *-q8 | *-mxfp4) return 0 ;;
	esac
	return 1
}
