# Compiler, linker and caching settings of the build tree. Nothing here reaches an installed package.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Run paths are relative, so that a build tree or an installation can be moved as a whole; the second
# entry serves `./tenon bundle-gpu`, which puts programs in bin/ and libraries in lib/.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_BUILD_RPATH "$ORIGIN;$ORIGIN/../lib")
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

# A compile runs in its build folder, and ccache makes paths below the source root relative to it:
# the presets `release` and `cuda` therefore share their C++ objects. What ccache is lax about is what a file that
# uses a precompiled header cannot show: macros and __TIME__ inside that header, which ours do not use.
find_program(TENON_CCACHE ccache)
if(TENON_CCACHE AND PROJECT_IS_TOP_LEVEL)
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
          "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
          "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime" "${TENON_CCACHE}")
    endif()
  endforeach()
endif()

add_library(tenon_flags INTERFACE)
target_compile_options(tenon_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall>"
  # Error messages quote __FILE__: root-relative, also where ccache hands relative paths to the compiler.
  "$<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=;-fmacro-prefix-map=../../=>")
# GCC 12 warns of overlapping copies in `"text" + string`, where there are none (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tenon_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>")
endif()
if(TENON_WERROR)
  target_compile_options(tenon_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Werror>" "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>")
endif()

find_program(TENON_MOLD mold)
if(TENON_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
  target_link_options(tenon_flags INTERFACE
    "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:TENON_PACKED_RELOCATIONS>>>:$<HOST_LINK:-fuse-ld=mold>>")
endif()
# Relocations as a bitmap, 0.75 MB less of libtenon.so. mold leaves out the mark that glibc asks for, and glibc before 2.36 does not
# load such files, hence a program that runs.
if(NOT CMAKE_CROSSCOMPILING)
  include(CheckCXXSourceRuns)
  set(CMAKE_REQUIRED_FLAGS -fPIE)
  set(CMAKE_REQUIRED_LINK_OPTIONS -pie "LINKER:-z,pack-relative-relocs")
  check_cxx_source_runs("static int x; int* p = &x; int main() { return *p; }" TENON_CAN_PACK_RELOCATIONS)
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()

if(TENON_SANITIZE)
  set(tenon_sanitize "-fsanitize=${TENON_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # The checks of each access's pointer take a quarter of the compiler's time. Where no memory is taken apart the address sanitizer
  # sees the same mistakes: only targets with the property TENON_CHECKED_POINTERS and kernels have them.
  set(TENON_CHECKED_POINTER_OPTIONS)
  if(TENON_SANITIZE MATCHES "undefined")
    set(TENON_CHECKED_POINTER_OPTIONS -fsanitize=undefined)
  endif()
  target_compile_options(tenon_flags INTERFACE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:$<TARGET_PROPERTY:TENON_UNSANITIZED>>>>:${tenon_sanitize}>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:$<TARGET_PROPERTY:TENON_CHECKED_POINTERS>>>>:\
-fno-sanitize=null,alignment,object-size,pointer-overflow,nonnull-attribute,returns-nonnull-attribute,vptr>"
    # GCC's own documentation: what sanitizers insert makes this warning report what is initialised. A release build has it.
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  target_link_options(tenon_flags INTERFACE ${tenon_sanitize})
  # The library's generated sources are hundreds of one form: with the sanitizers the tests' own entries (tests/rows, tests/aten/iterator,
  # tests/aten/registration) stand for them. Of threads, what is left out would be taken for races elsewhere.
  if(NOT TENON_SANITIZE MATCHES "thread")
    set(TENON_GENERATED_UNSANITIZED ON)
  endif()
endif()

# tenon_precompile(TARGET header...): headers that nearly every source of TARGET reads, compiled once. Where the compiler
# cache holds the object, nothing is read at all.
function(tenon_precompile target)
  list(TRANSFORM ARGN REPLACE "(.+)" "<\\1>" OUTPUT_VARIABLE headers)
  target_precompile_headers(${target} PRIVATE ${headers})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # ccache needs it to know what the header holds.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>")
  endif()
endfunction()

# What the library itself is compiled with. Thread-local state sits on every call's path, so it is
# addressed directly (initial-exec); calls within the library do not go through the PLT.
set(TENON_LIBRARY_OPTIONS
  "$<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden;-ftls-model=initial-exec;-fno-semantic-interposition;-fno-math-errno;-fno-trapping-math>"
  "$<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;--expt-relaxed-constexpr>")
