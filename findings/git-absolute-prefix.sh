#!/bin/sh
# Version 2 of the Agent Client Protocol wants absolute names in a `git_patch`. With an absolute prefix git writes them,
# and "new file mode" for a file that was only changed; `git apply` refuses the patch then, whatever is stripped of the
# names. The blobs on the line `index` are right.
#
# Seen with git 2.39.5 (2026-11-30):
#   diff --git /w/f.txt /w/f.txt
#   new file mode 100644
#   index 422c2b7..0f7bc76 100644
#   --- /w/f.txt
#   +++ /w/f.txt
#   error: git apply: bad git-diff - expected /dev/null on line 2
# Prefixes that do not begin with "/" have neither effect.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export HOME="$folder" GIT_CONFIG_NOSYSTEM=1 LC_ALL=C
git --version

git init -q work
cd work
printf 'a\nb\n' >f.txt
git add f.txt
git -c user.name=n -c user.email=n@example.org commit -qm first
printf 'a\nc\n' >f.txt
git diff --src-prefix=/w/ --dst-prefix=/w/ >../absolute.patch
git diff --src-prefix=w/ --dst-prefix=w/ >../relative.patch
git checkout -q f.txt

cat ../absolute.patch
grep -q '^new file mode 100644$' ../absolute.patch
if grep -q 'new file mode' ../relative.patch; then exit 1; fi
git apply --check ../relative.patch
if git apply --check -p2 ../absolute.patch 2>../error; then
	echo "changed: git applies its own patch with absolute names" >&2
	exit 1
fi
cat ../error
grep -q 'expected /dev/null' ../error
