/* supported: what fwd can run, one item per line with its kind: "family llama", "type Q4_K", "pre-tokenizer qwen2". */
#ifndef SUPPORTED_H
#define SUPPORTED_H

/* Prints the list with out_print(). */
void supported_print(void);

#endif
