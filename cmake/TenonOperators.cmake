# tenon_check_kernels(TARGET COMPILER command OUT folder KERNELS file|folder... ARGUMENTS argument...
#                     [DEPENDS file...])
#
# Before TARGET is compiled, names each hand-written kernel that its YAML asks for and KERNELS do not
# define; a step of its own, so that editing a kernel does not generate anything. When a compilation
# fails over a kernel's signature or a formula, its messages end with the place in the YAML.
function(tenon_check_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPILER;OUT" "KERNELS;ARGUMENTS;DEPENDS")
  set(kernels ${arg_KERNELS})
  list(TRANSFORM kernels PREPEND "--kernels;")
  set(stamp "${arg_OUT}/kernels.stamp")
  add_custom_command(
    OUTPUT "${stamp}"
    COMMAND "${arg_COMPILER}" check-kernels ${arg_ARGUMENTS} ${kernels}
            --depfile "${arg_OUT}/kernels.d" --stamp "${stamp}"
    DEPENDS "${arg_COMPILER}" ${arg_DEPENDS}
    DEPFILE "${arg_OUT}/kernels.d"
    COMMENT "Checking kernels of ${target}"
    VERBATIM)
  add_custom_target(${target}_tenon_kernels DEPENDS "${stamp}")
  add_dependencies(${target} ${target}_tenon_kernels)

  find_program(TENON_SH sh)
  mark_as_advanced(TENON_SH)
  if(TENON_SH)
    get_target_property(launcher ${target} RULE_LAUNCH_COMPILE)
    if(NOT launcher)
      set(launcher "")
    endif()
    set(note "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tools/compile_note.sh")
    set_target_properties(${target} PROPERTIES
      RULE_LAUNCH_COMPILE "${TENON_SH} \"${note}\" \"${arg_OUT}/index.txt\" ${launcher}")
  endif()
endfunction()

# tenon_run_generator(TARGET OUT folder BASE argument... ARGUMENTS argument... INPUTS file... KERNELS file...)
#   Generates into the folder, for tenon_add_operators(); sets TENON_GEN_CPU_SOURCES and its like in the caller.
macro(tenon_run_generator target)
  cmake_parse_arguments(run "" "OUT" "BASE;ARGUMENTS;INPUTS;KERNELS" ${ARGN})
  if(TENON_COMPILER)
    # An installed generator runs now; what it read makes CMake run again when it changes.
    tenon_find_python(python VENV "${PROJECT_BINARY_DIR}/tenon_venv"
                      REQUIREMENTS "${TENON_SHARE_DIR}/requirements.txt")
    file(MAKE_DIRECTORY "${run_OUT}")
    execute_process(COMMAND "${TENON_COMPILER}" gen ${run_ARGUMENTS} ${run_BASE} --python "${python}"
                    RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${run_INPUTS} "${TENON_COMPILER}")
    if(failed)
      message(FATAL_ERROR "tenon_add_operators(${target}): the generator found errors:\n${log}")
    endif()
    include("${run_OUT}/sources.cmake")
    tenon_check_kernels(${target} COMPILER "${TENON_COMPILER}" OUT "${run_OUT}" KERNELS ${run_KERNELS}
                        ARGUMENTS ${run_ARGUMENTS} DEPENDS ${run_INPUTS})
  else()
    tenon_find_python(python VENV "${Tenon_SOURCE_DIR}/build/venv"
                      REQUIREMENTS "${Tenon_SOURCE_DIR}/codegen/requirements.txt" PINNED)
    tenon_generation_rule(DIR "${run_OUT}" INPUTS ${run_INPUTS} ARGUMENTS ${run_ARGUMENTS} ${run_BASE} --python "${python}")
    add_custom_target(${target}_tenon_generated DEPENDS "${run_OUT}/gen.stamp")
    add_dependencies(${target} ${target}_tenon_generated)
    tenon_check_kernels(${target} COMPILER tenonc OUT "${run_OUT}" KERNELS ${run_KERNELS}
                        ARGUMENTS ${run_ARGUMENTS} DEPENDS "${run_OUT}/gen.stamp")
  endif()
endmacro()

# tenon_add_operators(TARGET
#                     YAML file...            entries of native_functions.yaml's form
#                     [DERIVATIVES file...]   entries of derivatives.yaml's form
#                     [KERNELS file...])      hand-written kernels, *.cpp and *.cu: all that YAML asks for
#
# Gives TARGET, a library or program of yours, what Tenon's own operators get: functions, dispatch,
# pointwise kernels, autograd nodes. Headers are included as "<namespace>/ops/<name>.h" with the namespace
# of the schema, `tenon` without one. CUDA kernels are compiled where Tenon was built with CUDA and the
# project has a CUDA compiler. Paths are relative to the calling folder. An error in the YAML stops the
# configuration, with its place; editing a YAML file runs the generator again in the next build.
#
# tenon_add_operators(TARGET BACKEND file KERNELS file...)
#
# Gives TARGET kernels of a device outside Tenon for operators that Tenon has (docs/backends.md): the file names
# the backend, the namespace of the kernels, and the operators. They are registered when TARGET is loaded.
function(tenon_add_operators target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BACKEND" "YAML;DERIVATIVES;KERNELS")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "tenon_add_operators: there is no target ${target}; "
                        "call add_library(${target} ...) or add_executable(${target} ...) first.")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tenon_add_operators(${target}): unexpected ${arg_UNPARSED_ARGUMENTS}; "
                        "expected YAML, DERIVATIVES, KERNELS, or BACKEND, KERNELS.")
  endif()
  if(arg_BACKEND AND (arg_YAML OR arg_DERIVATIVES))
    message(FATAL_ERROR "tenon_add_operators(${target}): BACKEND stands for itself; "
                        "operators of your own (YAML, DERIVATIVES) take a call of their own.")
  endif()
  if(NOT arg_YAML AND NOT arg_BACKEND)
    message(FATAL_ERROR "tenon_add_operators(${target}): YAML is missing: name at least one file of operators.")
  endif()

  set(backends CPU)
  if(TENON_HAS_CUDA)
    if(CMAKE_CUDA_COMPILER)
      list(APPEND backends CUDA)
    else()
      message(STATUS "tenon_add_operators(${target}): no CUDA compiler, so these operators run on the CPU only")
    endif()
  endif()

  set(out "${CMAKE_CURRENT_BINARY_DIR}/tenon_${target}")
  if(arg_BACKEND)
    string(APPEND out "_backend")
    set(backends CPU)
  endif()
  list(JOIN backends "," joined)
  set(base --templates "${TENON_TEMPLATES_DIR}" --base "${TENON_SHARE_DIR}/native_functions.yaml"
           --out "${out}" --depfile "${out}/gen.d" --stamp "${out}/gen.stamp")
  set(arguments --tags "${TENON_SHARE_DIR}/tags.yaml" --backends "${joined}")
  if(arg_BACKEND)
    # The checks of its kernels need the base operators too.
    set(arguments --base "${TENON_SHARE_DIR}/native_functions.yaml")
    list(REMOVE_ITEM base --base "${TENON_SHARE_DIR}/native_functions.yaml")
  endif()
  set(inputs)
  foreach(kind IN ITEMS YAML DERIVATIVES BACKEND)
    foreach(file IN LISTS arg_${kind})
      get_filename_component(path "${file}" ABSOLUTE)
      if(NOT EXISTS "${path}")
        message(FATAL_ERROR "tenon_add_operators(${target}): ${kind} file ${path} does not exist.")
      endif()
      list(APPEND inputs "${path}")
      if(kind STREQUAL "YAML")
        list(APPEND arguments --native "${path}")
      elseif(kind STREQUAL "BACKEND")
        list(APPEND arguments --backend "${path}")
      else()
        list(APPEND arguments --derivatives "${path}")
      endif()
    endforeach()
  endforeach()
  set(kernels)
  foreach(file IN LISTS arg_KERNELS)
    get_filename_component(path "${file}" ABSOLUTE)
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "tenon_add_operators(${target}): KERNELS file ${path} does not exist.")
    endif()
    list(APPEND kernels "${path}")
  endforeach()

  tenon_run_generator(${target} OUT "${out}" BASE ${base} ARGUMENTS ${arguments} INPUTS ${inputs} KERNELS ${kernels})

  set(sources ${TENON_GEN_CPU_SOURCES})
  foreach(file IN LISTS arg_KERNELS)
    if(NOT file MATCHES "\\.cu$")
      list(APPEND sources "${file}")
    endif()
  endforeach()
  if("CUDA" IN_LIST backends)
    set(cuda_kernels ${arg_KERNELS})
    list(FILTER cuda_kernels INCLUDE REGEX "\\.cu$")
    list(APPEND sources ${TENON_GEN_CUDA_SOURCES} ${cuda_kernels})
    set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;--expt-relaxed-constexpr>")
  endif()
  set_source_files_properties(${TENON_GEN_CPU_SOURCES} PROPERTIES
    COMPILE_OPTIONS "-fno-math-errno;-fno-trapping-math")
  target_sources(${target} PRIVATE ${sources})
  # Before Tenon's own folders, which hold the headers of the operators that are not new.
  target_include_directories(${target} BEFORE PUBLIC "$<BUILD_INTERFACE:${out}>")
  target_link_libraries(${target} PUBLIC Tenon::tenon PRIVATE hwy::hwy)
endfunction()

if(NOT TENON_SHARE_DIR)
  # In Tenon's own tree the same files lie where they are written.
  set(TENON_SHARE_DIR "${PROJECT_SOURCE_DIR}")
  set(TENON_TEMPLATES_DIR "${PROJECT_SOURCE_DIR}/codegen/templates")
endif()
