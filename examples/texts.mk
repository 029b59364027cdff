# Makes NAME.txt from each NAME.prompt. Existing texts are kept, so an interrupted run can be resumed.
# usage: make -j 4 -f texts.mk MODEL=m.gguf PROMPTS="$(echo *.prompt)"
MODEL = m.gguf
PROMPTS =
FLAGS = -t 1 -s 1 -n 200

texts: $(PROMPTS:.prompt=.txt)
.SUFFIXES: .prompt .txt
.prompt.txt:
	gen -m $(MODEL) $(FLAGS) < $< > $@.part
	mv $@.part $@
