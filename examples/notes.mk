# Makes notes.jsonl, the embeddings of some texts; of those that have changed since, if it exists.
# usage: make -j 4 -f notes.mk MODEL=m.gguf NOTES="$(echo notes/*.txt)"
MODEL = m.gguf
NOTES =
FLAGS = --truncate

notes.jsonl: $(NOTES:.txt=.json) force
	cat $(NOTES:.txt=.json) > $@
force:

.SUFFIXES: .txt .json
.txt.json:
	embed $(FLAGS) --files $(MODEL) $< > $@.part
	mv $@.part $@
