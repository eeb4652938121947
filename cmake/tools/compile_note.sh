#!/bin/sh
# compile_note.sh INDEX COMMAND...
#   Runs a compiler (or ccache and a compiler). When it fails over a kernel's generated declaration or over
#   generated code, notes at the end of its messages say which entry of the YAML files that came from. The
#   generated texts hold no line numbers, since one more entry would otherwise change all that follow it;
#   INDEX, written beside them, has the places. CMake puts this script before the compile commands of the targets
#   that have operators (RULE_LAUNCH_COMPILE).
index=$1
shift
{ messages=$("$@" 2>&1 >&3 3>&-); } 3>&1
status=$?
if [ -n "$messages" ]; then printf '%s\n' "$messages" >&2; fi
if [ "$status" -eq 0 ] || [ -z "$messages" ]; then exit "$status"; fi

printf '%s\n' "$messages" | awk -v index_file="$index" '
BEGIN {
  while ((getline line < index_file) > 0) {
    split(line, field, "\t")
    if ((field[1], field[2]) in place) continue
    place[field[1], field[2]] = field[3]
    text[field[1], field[2]] = field[4]
    signature[field[2]] = field[5]
  }
}

function note(where, what) {
  if ((where, what) in shown || ++notes > 12) return
  shown[where, what] = 1
  print where ": note: " what
}

function kernel(name) {
  if (!(("kernel", name) in place)) return
  note(place["kernel", name], "kernel " name " is declared by this entry: " text["kernel", name] \
       "\n  its definition must be: " signature[name])
}

# The function that line `number` of a header of kernel declarations declares.
function declared(file, number, at, line) {
  while (at < number && (getline line < file) > 0) ++at
  close(file)
  if (at == number && match(line, /[A-Za-z0-9_]+\(/)) kernel(substr(line, RSTART, RLENGTH - 1))
}

# The formula, or else the node or the operator, that line `number` of a generated source belongs to.
function generated(file, number, at, line, operator, node, inputs) {
  while (at < number && (getline line < file) > 0) {
    ++at
    if (line ~ /^\/\/ ---- /) {
      operator = line
      sub(/^\/\/ ---- /, "", operator)
      sub(/ .*/, "", operator)
      node = inputs = ""
    } else if (line ~ /^variable_list [A-Za-z0-9_]+_apply\(/) {
      node = line
      sub(/^variable_list /, "", node)
      sub(/_apply\(.*/, "", node)
    } else if (line ~ /^  \/\/ [A-Za-z0-9_]+(, [A-Za-z0-9_]+)*: /) {
      inputs = line
      sub(/^  \/\/ /, "", inputs)
      sub(/: .*/, "", inputs)
    } else if (line ~ /^  }/ && at < number) {
      inputs = ""
    } else if (line ~ /^}/ && at < number) {
      node = inputs = ""
    }
  }
  close(file)
  if (("formula", node " " inputs) in place) {
    note(place["formula", node " " inputs], "this is the formula of " inputs ": " text["formula", node " " inputs])
  } else if (("node", node) in place) {
    note(place["node", node], "this is the backward of " text["node", node])
  } else if (("operator", operator) in place) {
    note(place["operator", operator], "this follows from " text["operator", operator])
  }
}

function look(file, number) {
  if (file ~ /\/native\/[A-Za-z0-9_]+\.h$/) declared(file, number)
  else if (file ~ /(^|\/)(((autograd|operators)_[0-9]+|pointwise\/([A-Za-z0-9_]+\/)?[A-Za-z0-9_]+)\.cpp|pointwise_[0-9]+\.cu)$/) generated(file, number)
}

{
  gsub(/\033\[[0-9;]*[mK]/, "")
  # GCC and Clang: FILE:LINE:COLUMN: ...; nvcc: FILE(LINE): ... and "declared at line LINE of FILE".
  if (match($0, /^[^:(]+[:(][0-9]+[:)]/)) {
    at = substr($0, 1, RLENGTH - 1)
    number = at
    sub(/^.*[:(]/, "", number)
    sub(/[:(][0-9]+$/, "", at)
    look(at, number + 0)
  }
  if (match($0, /at line [0-9]+ of [^ )]+/)) {
    at = substr($0, RSTART + 8, RLENGTH - 8)
    number = at + 0
    sub(/^[0-9]+ of /, "", at)
    gsub(/"/, "", at)
    look(at, number)
  }
  # GCC names the definition alone where there is one declaration: "... should have been declared inside ...".
  if (/error: .*(declar|does not match)/ && match($0, /native::[A-Za-z0-9_]+\(/)) {
    name = substr($0, RSTART + 8, RLENGTH - 9)
    kernel(name)
    if (!(("kernel", name) in place) && name ~ /_(cpu|cuda|meta)$/) {
      unknown[name]
    }
  }
}
END {
  for (name in unknown) print "note: no entry of the YAML files asks for a kernel " name
}' >&2
exit "$status"
