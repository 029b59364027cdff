/* arithmetic: which arithmetic a program computes with. The same model, ids and options have the same bits on every
 * machine, with any instruction set, number of threads and batch, as long as this number is the same. */
#ifndef ARITHMETIC_H
#define ARITHMETIC_H

enum { ARITHMETIC = 3 };        /* in states and records of texts: increment when any bit of K, V or logits changes */

#endif
