#!/bin/sh
# unidiff reads patches of git, and leaves out the hunks of a merge (`diff --cc`) without a word: the file is there, with no
# change. Names with other letters than those of English keep the quotes and escapes of git, with its prefix inside of them.
# Who shows a change by it to somebody who is to allow it has to look at the lines himself.
#
# Seen with unidiff 1.0.1 (2026-11-30):
#   a merge with three changed lines: 1 file, 0 hunks
#   the name of ä.txt: "a/\303\244.txt"
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q unidiff==1.0.1
"$folder/python/bin/python" - <<'PYTHON'
from unidiff import PatchSet

MERGE = """\
diff --cc f.txt
index 1c59427,f719efd..2d4cddd
--- a/f.txt
+++ b/f.txt
@@@ -1,1 -1,1 +1,1 @@@
- left
 -right
++both
"""
QUOTED = '--- "a/\\303\\244.txt"\n+++ "b/\\303\\244.txt"\n@@ -1 +1 @@\n-one\n+two\n'

merge, quoted = PatchSet(MERGE), PatchSet(QUOTED)
print(f"a merge with three changed lines: {len(merge)} file, {len(merge[0])} hunks")
print(f"the name of ä.txt: {quoted[0].source_file}")
assert (len(merge), len(merge[0])) == (1, 0)
assert quoted[0].source_file == r'"a/\303\244.txt"'
PYTHON
