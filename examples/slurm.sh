#!/bin/sh
#SBATCH --cpus-per-task=8
#SBATCH --output=text-%a.txt
# Texts for many prompts, one per line, as an array of jobs: task i takes line i.
# usage: sbatch --array=1-$(wc -l < prompts) slurm.sh MODEL prompts [gen's options]
model=$1 prompts=$2
shift 2
exec gen -m "$model" -t "${SLURM_CPUS_PER_TASK:-1}" -s "$SLURM_ARRAY_TASK_ID" "$@" -- \
	"$(sed -n "${SLURM_ARRAY_TASK_ID}p" "$prompts")"
