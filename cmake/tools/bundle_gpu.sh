#!/bin/sh
# bundle_gpu.sh BUILD OUT PROGRAM...: packs BUILD's tests and benchmarks of these names with the libraries they need into OUT/ and
# OUT.tar.gz.
#
# bin/ has the programs, lib/ the libraries, and run paths are relative ($ORIGIN/../lib). What every machine with a
# driver and the CUDA libraries has is left out: the C library's family, the driver, and CUDA's own libraries.
set -eu
build=$1
out=$2
shift 2
limit_mb=60

rm -rf "$out" "$out.tar.gz"
mkdir -p "$out/bin" "$out/lib"

for name in "$@"; do
  case "$name" in
    test_*) program=$build/tests/$name ;;
    *) program=$build/benchmarks/$name ;;
  esac
  [ -x "$program" ] || {
    echo "bundle_gpu: there is no program $program" >&2
    exit 1
  }
  strip -o "$out/bin/$name" "$program"
  # What test_ops reads: on the other machine there are no sources.
  if [ "$name" = test_ops ]; then
    mkdir -p "$out/tests/ops"
    cp -R "$(dirname "$0")/../../tests/ops/samples" "$(dirname "$0")/../../tests/ops/golden" "$out/tests/ops"
  fi
done

for program in "$out"/bin/*; do
  # ldd on the unstripped original: its run path points into the build tree.
  for original in "$build/tests/$(basename "$program")" "$build/benchmarks/$(basename "$program")"; do
    [ ! -f "$original" ] || ldd "$original"
  done
done | awk '/not found/ {print "bundle_gpu: " $1 " was not found" > "/dev/stderr"} $2 == "=>" && $3 ~ /^\// {print $1, $3}' |
  sort -u | while read -r name path; do
    case "$name" in
      libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | ld-linux*) ;;
      libcuda.so* | libcudart.so* | libcublas* | libcudnn* | libnccl* | libnv* | libcufft* | libcurand*) ;;
      *) strip -o "$out/lib/$name" "$path" ;;
    esac
  done

cat >"$out/run.sh" <<'RUN'
#!/bin/sh
# Runs every program of the bundle, or those named: ./run.sh [program [arguments...]]
cd "$(dirname "$0")" || exit 1
LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}:/usr/local/cuda/lib64"
export LD_LIBRARY_PATH
export TENON_TEST_DIR="$PWD/tests"
if [ $# -gt 0 ]; then
  program=$1
  shift
  exec "bin/$program" "$@"
fi
status=0
for program in bin/*; do
  echo "== $program"
  "$program" || status=1
done
exit $status
RUN
chmod +x "$out/run.sh"

tar -C "$(dirname "$out")" -czf "$out.tar.gz" "$(basename "$out")"
packed=$(du -m "$out.tar.gz" | cut -f1)
echo "bundle_gpu: $out.tar.gz, $packed MB ($(du -sm "$out" | cut -f1) MB unpacked); run ./run.sh on the GPU machine"
[ "$packed" -lt "$limit_mb" ] || {
  echo "bundle_gpu: the bundle is over $limit_mb MB" >&2
  exit 1
}
