# Which instruction sets vector kernels are compiled for. A build from sources serves the machine it is made on, with one set; a package
# serves every machine, with kernels for three sets and a choice when a kernel first runs.
#
# Sets TENON_KERNEL_SET, the one set, or "all", and TENON_KERNEL_OPTIONS, the compiler's options of a source with vector kernels.
if(NOT DEFINED TENON_DEFAULT_INSTRUCTION_SETS)
  set(TENON_DEFAULT_INSTRUCTION_SETS native)
endif()
set(TENON_INSTRUCTION_SETS "${TENON_DEFAULT_INSTRUCTION_SETS}" CACHE STRING
    "Instruction sets of vector kernels: native (the best of this machine), all (for packages, chosen at run time), x86-64-v3 (AVX2) or x86-64-v4 (AVX-512)")
set_property(CACHE TENON_INSTRUCTION_SETS PROPERTY STRINGS native all x86-64-v3 x86-64-v4)

# tenon_native_instruction_set(OUT): the best set of this machine; "all" if it has none of them.
function(tenon_native_instruction_set out)
  if(NOT DEFINED TENON_NATIVE_SET)
    set(best all)
    set(probe "${PROJECT_BINARY_DIR}/CMakeFiles/instruction_sets.cpp")
    file(WRITE "${probe}" "\
int main() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports(\"avx2\") || !__builtin_cpu_supports(\"fma\") || !__builtin_cpu_supports(\"bmi2\")) return 1;
  const bool wide = __builtin_cpu_supports(\"avx512f\") && __builtin_cpu_supports(\"avx512bw\") && __builtin_cpu_supports(\"avx512cd\") &&
                    __builtin_cpu_supports(\"avx512dq\") && __builtin_cpu_supports(\"avx512vl\");
  return wide ? 4 : 3;
}
")
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT CMAKE_CROSSCOMPILING)
      try_run(level compiles "${PROJECT_BINARY_DIR}/CMakeFiles/instruction_sets" "${probe}")
      if(compiles AND level MATCHES "^[34]$")
        set(best x86-64-v${level})
      endif()
    endif()
    set(TENON_NATIVE_SET "${best}" CACHE INTERNAL "")
  endif()
  set(${out} "${TENON_NATIVE_SET}" PARENT_SCOPE)
endfunction()

if(TENON_INSTRUCTION_SETS STREQUAL "native")
  tenon_native_instruction_set(TENON_KERNEL_SET)
elseif(TENON_INSTRUCTION_SETS MATCHES "^(all|x86-64-v[34])$")
  set(TENON_KERNEL_SET "${TENON_INSTRUCTION_SETS}")
else()
  message(FATAL_ERROR "TENON_INSTRUCTION_SETS=${TENON_INSTRUCTION_SETS}: it is native, all, x86-64-v3 or x86-64-v4")
endif()
# Plain code among the kernels rounds as it does without these sets: no product and sum become one instruction by themselves.
set(TENON_KERNEL_OPTIONS)
if(NOT TENON_KERNEL_SET STREQUAL "all")
  set(TENON_KERNEL_OPTIONS -DHWY_COMPILE_ONLY_STATIC -march=${TENON_KERNEL_SET} -ffp-contract=off)
  # GCC 12 calls the operands that its own AVX-512 intrinsics leave undefined uninitialized (its bug 105593), thousands of times.
  if(TENON_KERNEL_SET STREQUAL "x86-64-v4" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND TENON_KERNEL_OPTIONS -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
endif()

# The number of the one set, 0 for all: aten/cpu/required_processor.cpp.
string(REGEX MATCH "[34]$" TENON_KERNEL_LEVEL "${TENON_KERNEL_SET}")
if(NOT TENON_KERNEL_LEVEL)
  set(TENON_KERNEL_LEVEL 0)
endif()

# tenon_vector_sources(TARGET): TARGET's hand-written sources with vector kernels, which include Highway's foreach_target.h, get
# TENON_KERNEL_OPTIONS. As that header may include them once for each set, each is compiled apart.
function(tenon_vector_sources target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  get_target_property(base ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${base}" OUTPUT_VARIABLE path)
    if(EXISTS "${path}")
      file(STRINGS "${path}" vectors REGEX "^#include <hwy/foreach_target\\.h>" LIMIT_COUNT 1)
      if(vectors)
        set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
          ${TENON_KERNEL_OPTIONS} ${TENON_CHECKED_POINTER_OPTIONS})
        set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
        set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
      endif()
    endif()
  endforeach()
endfunction()
