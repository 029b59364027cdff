# Each NAME.prompt becomes NAME.txt; what is there already is not made again, so a run that was cut off goes on.
# usage: make -j 4 -f texts.mk MODEL=m.gguf PROMPTS="$(echo *.prompt)"
MODEL = m.gguf
PROMPTS =
FLAGS = -t 1 -s 1 -n 200

texts: $(PROMPTS:.prompt=.txt)
.SUFFIXES: .prompt .txt
.prompt.txt:
	gen -m $(MODEL) $(FLAGS) < $< > $@.part
	mv $@.part $@
