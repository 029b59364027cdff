printf 'Once upon a time there lived a king who had a quantum computer.' > text
tok m.gguf < text | fwd --all m.gguf > all.lms
CLICOLOR_FORCE=1 peek -m m.gguf --color all.lms
peek -m m.gguf --bars --top 3 all.lms | tail -n 15
score -m m.gguf all.lms
