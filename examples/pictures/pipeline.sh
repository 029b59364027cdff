printf 'Once upon a' | tok m.gguf | tee ids.lms | peek -m m.gguf
fwd m.gguf < ids.lms | tee logits.lms | peek -m m.gguf --top 3 | tail -n 4
sample --greedy < logits.lms | detok m.gguf
fwd -t 1 --backend scalar m.gguf < ids.lms | cmp - logits.lms && echo the same bits
gen -m m.gguf -n 40 --temp 0.6 -s 3 "Once upon a time" | fold -s -w 84
