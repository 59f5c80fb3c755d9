#!/bin/sh
# create.sh NAME: copies the files of a new task, with this name in place of new_task, and adds it to the list of tasks.
set -eu
expr "${1:-}" : '[a-z][a-z0-9_]*$' >/dev/null ||
    { echo "error: expected a name of small letters, digits and _, such as topics" >&2; exit 1; }
cd "$(dirname "$0")"
root=../..
test ! -e "$root/elmo_tasks/tasks/$1" || { echo "error: elmo_tasks/tasks/$1 exists" >&2; exit 1; }
find elmo_tasks training_config fixtures -type f ! -name '*.pyc' | while read -r file; do
    target=$(echo "$file" | sed "s/new_task/$1/g")
    mkdir -p "$root/$(dirname "$target")"
    sed "s/new_task/$1/g" "$file" >"$root/$target"
    echo "$target"
done
tasks=elmo_tasks/tasks/__init__.py
sed -i.bak "/^PACKAGES = /s/)\$/, \"$1\")/" "$root/$tasks"
rm "$root/$tasks.bak"
echo "$tasks"
