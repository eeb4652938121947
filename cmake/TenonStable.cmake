# tenon_add_stable_library(NAME [YAML file] [SOURCES file...])
#
# A shared library NAME of operators that one build serves several releases of Tenon with (docs/stable_interface.md): those of the YAML file,
# `pointwise` and `rowwise` entries, and those that the sources register with aten/stable/stable_library.h. It links nothing of Tenon;
# tenon::load_library() and tenon.ops.load_library() load it. Kernels are for one instruction set, as TENON_INSTRUCTION_SETS says; with
# `all`, the baseline's. An error in the YAML is an error of NAME's build, with its place.
function(tenon_add_stable_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "YAML" "SOURCES")
  if(arg_UNPARSED_ARGUMENTS OR NOT (arg_YAML OR arg_SOURCES))
    message(FATAL_ERROR "tenon_add_stable_library(${name}): expected YAML and a file, SOURCES and files, or both, got '${ARGN}'.")
  endif()
  add_library(${name} SHARED ${arg_SOURCES})
  if(arg_YAML)
    get_filename_component(path "${arg_YAML}" ABSOLUTE)
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "tenon_add_stable_library(${name}): YAML file ${path} does not exist.")
    endif()
    set(out "${CMAKE_CURRENT_BINARY_DIR}/tenon_${name}")
    tenon_run_generator(${name} OUT "${out}" SUFFIX "" INPUTS "${path}"
      ARGUMENTS --native "${path}" --tags "${TENON_SHARE_DIR}/tags.yaml" --backends CPU
      BASE --base "${TENON_SHARE_DIR}/native_functions.yaml"
      GEN --target stable --templates "${TENON_TEMPLATES_DIR}" --out "${out}" --depfile "${out}/gen.d" --stamp "${out}/gen.stamp")
    if(NOT TENON_GEN_CPU_SOURCES)
      # Not generated yet: CMake runs again once it is.
      set(TENON_GEN_CPU_SOURCES "${out}/none.cpp")
      file(WRITE "${out}/none.cpp" "// In the place of sources that are to be generated.\n")
    endif()
    target_sources(${name} PRIVATE ${TENON_GEN_CPU_SOURCES})
    target_include_directories(${name} PRIVATE "${out}")
  endif()
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_options(${name} PRIVATE ${TENON_KERNEL_OPTIONS} -fvisibility=hidden -fno-math-errno -fno-trapping-math -ffp-contract=off)
  # The headers alone.
  target_include_directories(${name} SYSTEM PRIVATE $<TARGET_PROPERTY:Tenon::tenon,INTERFACE_INCLUDE_DIRECTORIES>
                             $<TARGET_PROPERTY:hwy::hwy,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_options(${name} PRIVATE -Wl,-Bsymbolic)
endfunction()
