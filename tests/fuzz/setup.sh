#!/bin/sh
# Brings the fuzzer into .cache/fuzz/site. Where there is none for this Python, `python -m tests.fuzz` does without it.
set -u
cd "$(dirname "$0")/../.."
site=.cache/fuzz/site
mkdir -p .cache/fuzz/corpus
[ -d $site/atheris ] && [ ! -e $site/.acp_nvim-unfinished ] && exit 0
echo "acp_nvim: bringing a fuzzer into $site"
.venv/bin/python requirements/install.py fuzz --target $site || {
  echo "acp_nvim: it could not be brought (see above); hypothesis makes up the streams instead." >&2
}
