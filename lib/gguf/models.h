/* models: the model files on this machine, by name. They are looked for where people keep them: in the folders of
 * $LMPIPE_MODELS, in ~/.local/share/lmpipe/models, and where Ollama, LM Studio, llama.cpp and programs of Hugging Face
 * keep theirs. Nothing is written there. */
#ifndef MODELS_H
#define MODELS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/why.h"

struct model_file {
	char *path;
	char *name;             /* the file's, or what Ollama calls the model: "llama3.2:1b" */
	uint64_t bytes;
	dev_t device;
	ino_t inode;            /* so that a file that is in two places is listed once */
};

struct models {
	struct model_file *at;  /* [n], by name */
	size_t n;
};

/* All models that the name stands for, or all (NULL). A name stands for the models that have exactly this name, with or
 * without ".gguf" or ":latest"; if there is none, for those whose names have its parts in this order, in upper or lower
 * case: "qwen3 q8" for Qwen3-0.6B-Q8_0.gguf. Parts are runs of letters and digits; in the model's name separators may
 * divide them, and they may end between a letter and a digit: "llama3.2" and "llama" for Llama-3.2-1B.gguf. What cannot
 * be read is left out, and what is beyond 10,000 models; -1 only if memory is short. Free with models_free(). */
int models_find(const char *name, struct models *out, struct why *w);
void models_free(struct models *m);

/* The path of the one readable model file that the name stands for. A name that is a file or has a slash is the path
 * itself, but one that begins with hf.co/ or huggingface.co/ stands for models of that repository. NULL with a reason
 * if there is no such file, or if there are several, which the reason then names. The path stays valid until the next
 * call. */
const char *models_path(const char *name, struct why *w);

#endif
