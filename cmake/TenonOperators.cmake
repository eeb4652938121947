# tenon_check_kernels(TARGET COMPILER command OUT folder KERNELS file|folder... ARGUMENTS argument...
#                     [SUFFIX text] [DEPENDS file...])
#
# Before TARGET is compiled, names each hand-written kernel that its YAML asks for and KERNELS do not
# define; a step of its own, so that editing a kernel does not generate anything. When a compilation
# fails over a kernel's signature or a formula, its messages end with the place in the YAML.
function(tenon_check_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPILER;OUT;SUFFIX" "KERNELS;ARGUMENTS;DEPENDS")
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
  add_custom_target(${target}_tenon_kernels${arg_SUFFIX} DEPENDS "${stamp}")
  add_dependencies(${target} ${target}_tenon_kernels${arg_SUFFIX})

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

# tenon_vector_objects(TARGET NAME kernel...)
#   Compiles generated vector kernels in an object library NAME and gives the objects to TARGET. Most of the time of one is Highway's
#   headers and the loops, which all of them read: where they are for one instruction set, these are precompiled.
function(tenon_vector_objects target name)
  add_library(${name} OBJECT ${ARGN})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  get_target_property(launcher ${target} RULE_LAUNCH_COMPILE)
  if(launcher)
    set_target_properties(${name} PROPERTIES RULE_LAUNCH_COMPILE "${launcher}")
  endif()
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_options(${name} PRIVATE ${TENON_KERNEL_OPTIONS})
  if(TENON_KERNEL_OPTIONS)
    target_precompile_headers(${name} PRIVATE <aten/core/simd_targets.h> <hwy/foreach_target.h> <aten/cpu/vec/pointwise_loop-inl.h>
                              <aten/cpu/vec/rows_pass-inl.h>)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # ccache needs it to know what the header holds.
      target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>")
    endif()
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()

# tenon_run_generator(TARGET OUT folder SUFFIX text BASE argument... GEN argument... ARGUMENTS argument...
#                     INPUTS file... KERNELS file...)
#   Generates into the folder, for tenon_add_operators(); sets TENON_GEN_CPU_SOURCES and its like in the caller.
#   ARGUMENTS are those of each command, BASE of those that see the operators of other libraries, GEN of `gen` alone.
macro(tenon_run_generator target)
  cmake_parse_arguments(run "" "OUT;SUFFIX" "BASE;GEN;ARGUMENTS;INPUTS;KERNELS" ${ARGN})
  if(TENON_COMPILER)
    # An installed generator runs now; what it read makes CMake run again when it changes.
    tenon_find_python(python VENV "${PROJECT_BINARY_DIR}/tenon_venv"
                      REQUIREMENTS "${TENON_SHARE_DIR}/requirements.txt")
    file(MAKE_DIRECTORY "${run_OUT}")
    # What it says goes to the terminal as it is, so that editors find the places.
    execute_process(COMMAND "${TENON_COMPILER}" gen ${run_ARGUMENTS} ${run_BASE} ${run_GEN} --python "${python}"
                    RESULT_VARIABLE failed OUTPUT_QUIET)
    file(GLOB_RECURSE templates "${TENON_TEMPLATES_DIR}/*.j2")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${run_INPUTS} "${TENON_COMPILER}" ${templates})
    if(NOT failed)
      include("${run_OUT}/sources.cmake")
      tenon_check_kernels(${target} COMPILER "${TENON_COMPILER}" OUT "${run_OUT}" SUFFIX "${run_SUFFIX}"
                          KERNELS ${run_KERNELS} ARGUMENTS ${run_ARGUMENTS} ${run_BASE} DEPENDS ${run_INPUTS})
    elseif(failed EQUAL 1)
      # The files are wrong: that is an error of this target's build, which says so again, and of no other's. Their
      # next change configures again.
      message(STATUS "tenon_add_operators(${target}): ${target} does not build until these errors are mended")
      add_custom_target(${target}_tenon_errors${run_SUFFIX}
        COMMAND "${TENON_COMPILER}" check ${run_ARGUMENTS} ${run_BASE}
        # Where it finds nothing wrong, it was rendering that failed.
        COMMAND "${TENON_COMPILER}" gen ${run_ARGUMENTS} ${run_BASE} ${run_GEN} --python "${python}"
        COMMENT "Checking the operators of ${target}" VERBATIM)
      add_dependencies(${target} ${target}_tenon_errors${run_SUFFIX})
      set(TENON_GEN_CPU_SOURCES "${run_OUT}/none.cpp")
      file(WRITE "${run_OUT}/none.cpp" "// In the place of sources that could not be generated.\n")
    else()
      message(FATAL_ERROR "tenon_add_operators(${target}): the generator failed; see above")
    endif()
  else()
    tenon_find_python(python VENV "${Tenon_SOURCE_DIR}/build/venv"
                      REQUIREMENTS "${Tenon_SOURCE_DIR}/codegen/requirements.txt" PINNED)
    tenon_generation_rule(DIR "${run_OUT}" INPUTS ${run_INPUTS} LIST_FROM_INPUTS
                          ARGUMENTS ${run_ARGUMENTS} ${run_BASE} ${run_GEN} --python "${python}")
    add_custom_target(${target}_tenon_generated${run_SUFFIX} DEPENDS "${run_OUT}/gen.stamp")
    add_dependencies(${target} ${target}_tenon_generated${run_SUFFIX})
    tenon_check_kernels(${target} COMPILER tenonc OUT "${run_OUT}" SUFFIX "${run_SUFFIX}" KERNELS ${run_KERNELS}
                        ARGUMENTS ${run_ARGUMENTS} ${run_BASE} DEPENDS "${run_OUT}/gen.stamp")
  endif()
endmacro()

# tenon_add_operators(TARGET
#                     YAML file...            entries of native_functions.yaml's form
#                     [DERIVATIVES file...]   entries of derivatives.yaml's form
#                     [KERNELS file...]       hand-written kernels, *.cpp and *.cu: all that YAML asks for
#                     [BASE target...]        libraries whose operators DERIVATIVES call; TARGET is linked with them
#                     [PYTHON_MODULE name])   a module of Python that has the operators of TARGET, a shared library
#
# Gives TARGET, a library or program of yours, what Tenon's own operators get: functions, dispatch,
# pointwise kernels, autograd nodes. Headers are included as "<namespace>/ops/<name>.h" with the namespace
# of the schema, `tenon` without one; "<TARGET>/<name of the first YAML file>.h" includes all. CUDA kernels are compiled where Tenon was built with CUDA and the
# project has a CUDA compiler. Paths are relative to the calling folder. An error in the YAML is an error of TARGET's
# build, with its place; editing a YAML file runs the generator again in the next build. A target may be given operators
# several times, from files of different names.
#
# Kernels are compiled for the instruction sets that TENON_INSTRUCTION_SETS says: native, this machine's best, or all, which a program
# for other machines needs. Without a setting it is what Tenon was built with.
#
# The target <TARGET>_tenon_docs, which no other target needs, writes a page for each operator to the folder
# tenon_<TARGET>/docs of the calling build folder.
#
# The module is <name>.py in the folder of the library, which it loads: with that folder in PYTHONPATH, `import <name>` has
# every operator of TARGET as a function. It imports `tenon`, of this version.
#
# tenon_add_operators(TARGET BACKEND file KERNELS file...)
#
# Gives TARGET kernels of a device outside Tenon for operators that Tenon has (docs/backends.md): the file names
# the backend, the namespace of the kernels, and the operators. They are registered when TARGET is loaded.
function(tenon_add_operators target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BACKEND;PYTHON_MODULE" "YAML;DERIVATIVES;KERNELS;BASE")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "tenon_add_operators: there is no target ${target}; "
                        "call add_library(${target} ...) or add_executable(${target} ...) first.")
  endif()
  get_target_property(type ${target} TYPE)
  get_target_property(imported ${target} IMPORTED)
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(imported OR aliased OR NOT type MATCHES "^(EXECUTABLE|(STATIC|SHARED|MODULE|OBJECT)_LIBRARY)$")
    message(FATAL_ERROR "tenon_add_operators(${target}): operators are compiled into their target: "
                        "an executable or a STATIC, SHARED, MODULE or OBJECT library of this project that is no alias; "
                        "${target} is of type ${type}.")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tenon_add_operators(${target}): unexpected ${arg_UNPARSED_ARGUMENTS}; "
                        "expected YAML, DERIVATIVES, KERNELS, BASE, PYTHON_MODULE, or BACKEND, KERNELS.")
  endif()
  if(arg_BACKEND AND (arg_YAML OR arg_DERIVATIVES OR arg_BASE OR arg_PYTHON_MODULE))
    message(FATAL_ERROR "tenon_add_operators(${target}): BACKEND stands for itself; "
                        "operators of your own (YAML, DERIVATIVES, BASE, PYTHON_MODULE) take a call of their own.")
  endif()
  if(NOT arg_YAML AND NOT arg_BACKEND)
    message(FATAL_ERROR "tenon_add_operators(${target}): YAML is missing: name at least one file of operators.")
  endif()

  if(DEFINED arg_PYTHON_MODULE)
    tenon_write_python_module(${target} "${arg_PYTHON_MODULE}")
  endif()

  set(backends CPU)
  if(TENON_HAS_CUDA)
    if(CMAKE_CUDA_COMPILER OR TENON_CUDA STREQUAL "emulated")
      list(APPEND backends CUDA)
    else()
      message(STATUS "tenon_add_operators(${target}): no CUDA compiler, so these operators run on the CPU only")
    endif()
  endif()

  # Each call has a folder and steps of its own.
  get_target_property(calls ${target} TENON_OPERATOR_CALLS)
  if(NOT calls)
    set(calls 0)
  endif()
  math(EXPR calls "${calls} + 1")
  set_target_properties(${target} PROPERTIES TENON_OPERATOR_CALLS ${calls})
  set(suffix "")
  if(calls GREATER 1)
    set(suffix "_${calls}")
  endif()
  set(out "${CMAKE_CURRENT_BINARY_DIR}/tenon_${target}${suffix}")
  if(arg_BACKEND)
    set(backends CPU)
  else()
    list(GET arg_YAML 0 first)
    get_filename_component(name "${first}" NAME_WE)
    get_target_property(names ${target} TENON_OPERATOR_NAMES)
    if(names AND name IN_LIST names)
      message(FATAL_ERROR "tenon_add_operators(${target}): a second ${name}.yaml, whose header would be the first's: "
                          "name the file otherwise, or give both in one call.")
    endif()
    set_property(TARGET ${target} APPEND PROPERTY TENON_OPERATOR_NAMES "${name}")
  endif()
  list(JOIN backends "," joined)
  set(base --base "${TENON_SHARE_DIR}/native_functions.yaml")
  set(gen --templates "${TENON_TEMPLATES_DIR}" --out "${out}" --depfile "${out}/gen.d" --stamp "${out}/gen.stamp")
  set(arguments --tags "${TENON_SHARE_DIR}/tags.yaml" --backends "${joined}")
  if(arg_BACKEND)
    # The checks of its kernels need the base operators too.
    set(arguments ${base})
    set(base)
  else()
    list(APPEND gen --header "${target}/${name}.h")
  endif()
  set(inputs)
  # What earlier calls have given the target cannot be declared once more.
  get_target_property(earlier ${target} TENON_OPERATOR_FILES)
  if(earlier AND NOT arg_BACKEND)
    foreach(file IN LISTS earlier)
      list(APPEND base --base "${file}")
      list(APPEND inputs "${file}")
    endforeach()
  endif()
  foreach(library IN LISTS arg_BASE)
    tenon_operator_files(files ${library})
    if(NOT files)
      message(FATAL_ERROR "tenon_add_operators(${target}): BASE ${library} is no target with operators: "
                          "call tenon_add_operators(${library} ...) before, or find its package.")
    endif()
    foreach(file IN LISTS files)
      list(APPEND base --base "${file}")
      list(APPEND inputs "${file}")
    endforeach()
    target_link_libraries(${target} PUBLIC ${library})
  endforeach()
  foreach(kind IN ITEMS YAML DERIVATIVES BACKEND)
    foreach(file IN LISTS arg_${kind})
      get_filename_component(path "${file}" ABSOLUTE)
      if(NOT EXISTS "${path}")
        message(FATAL_ERROR "tenon_add_operators(${target}): ${kind} file ${path} does not exist.")
      endif()
      list(APPEND inputs "${path}")
      if(kind STREQUAL "YAML")
        list(APPEND arguments --native "${path}")
        set_property(TARGET ${target} APPEND PROPERTY TENON_OPERATOR_FILES "${path}")
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

  tenon_run_generator(${target} OUT "${out}" SUFFIX "${suffix}" BASE ${base} GEN ${gen} ARGUMENTS ${arguments} INPUTS ${inputs} KERNELS ${kernels})
  if(NOT arg_BACKEND)
    set(compiler tenonc)
    if(TENON_COMPILER)
      set(compiler "${TENON_COMPILER}")
    endif()
    add_custom_target(${target}_tenon_docs${suffix}
      COMMAND "${compiler}" docs ${arguments} ${base} --templates "${TENON_TEMPLATES_DIR}" --out "${out}/docs" --python "${python}"
      COMMENT "Writing the pages of ${target}'s operators to ${out}/docs" VERBATIM)
  endif()

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
  set(vectors)
  foreach(source IN LISTS TENON_GEN_CPU_SOURCES)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${out}" OUTPUT_VARIABLE path)
    if(path MATCHES "^(pointwise|rowwise)/")
      list(APPEND vectors "${source}")
    endif()
  endforeach()
  set(options -fno-math-errno -fno-trapping-math)
  if(vectors AND NOT type STREQUAL "OBJECT_LIBRARY")
    list(REMOVE_ITEM sources ${vectors})
    list(REMOVE_ITEM TENON_GEN_CPU_SOURCES ${vectors})
    set(objects ${target}_kernels${suffix})
    tenon_vector_objects(${target} ${objects} ${vectors})
    if(TARGET ${target}_tenon_generated${suffix})
      add_dependencies(${objects} ${target}_tenon_generated${suffix})
    endif()
    target_include_directories(${objects} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_compile_definitions(${objects} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
    target_compile_options(${objects} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_OPTIONS> ${options})
    target_link_libraries(${objects} PRIVATE $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
  elseif(vectors)
    # An object library does not hand on the objects of another.
    set_property(SOURCE ${vectors} PROPERTY COMPILE_OPTIONS ${TENON_KERNEL_OPTIONS})
  endif()
  set_source_files_properties(${TENON_GEN_CPU_SOURCES} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  set_property(SOURCE ${TENON_GEN_CPU_SOURCES} APPEND PROPERTY COMPILE_OPTIONS ${options})
  target_sources(${target} PRIVATE ${sources})
  # Before Tenon's own folders, which hold the headers of the operators that are not new.
  target_include_directories(${target} BEFORE PUBLIC "$<BUILD_INTERFACE:${out}>")
  set_property(TARGET ${target} APPEND PROPERTY TENON_OPERATOR_FOLDERS "${out}")
  target_link_libraries(${target} PUBLIC Tenon::tenon PRIVATE hwy::hwy)
  if(type STREQUAL "STATIC_LIBRARY" AND NOT arg_BACKEND)
    # A linker takes of a static library the files that somebody refers to: this has it take the one that makes the
    # operators known by name.
    string(MAKE_C_IDENTIFIER "tenon_operators_${target}/${name}.h" anchor)
    target_link_options(${target} INTERFACE "LINKER:--undefined=${anchor}")
  endif()
endfunction()

# <name>.py beside the library of the target's operators.
function(tenon_write_python_module target name)
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    message(FATAL_ERROR "tenon_add_operators(${target}): PYTHON_MODULE loads a library: "
                        "write add_library(${target} SHARED), ${target} is of type ${type}.")
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "tenon_add_operators(${target}): PYTHON_MODULE \"${name}\" is no name that Python can import.")
  endif()
  get_target_property(modules ${target} TENON_PYTHON_MODULES)
  if(modules)
    message(FATAL_ERROR "tenon_add_operators(${target}): a second PYTHON_MODULE: ${modules} has all operators of ${target}.")
  endif()
  set_target_properties(${target} PROPERTIES TENON_PYTHON_MODULES "${name}")
  file(GENERATE OUTPUT "$<TARGET_FILE_DIR:${target}>/${name}.py" CONTENT "\
\"\"\"The operators of $<TARGET_FILE_NAME:${target}>: written by tenon_add_operators().\"\"\"

import tenon._ops

# No operator has the name `tenon`.
globals().update(tenon._ops.functions_beside(__file__, \"$<TARGET_FILE_NAME:${target}>\", \"${TENON_VERSION}\"))
del tenon
")
endfunction()

# The YAML files of a target's operators: of one of this build, or of one whose package was found.
function(tenon_operator_files out library)
  set(files)
  if(TARGET ${library})
    get_target_property(real ${library} ALIASED_TARGET)
    if(NOT real)
      set(real ${library})
    endif()
    get_target_property(files ${real} TENON_OPERATOR_FILES)
    get_target_property(installed ${real} TENON_INSTALLED_OPERATORS)
    if(NOT files AND installed)
      get_target_property(folders ${real} INTERFACE_INCLUDE_DIRECTORIES)
      foreach(folder IN LISTS folders)
        foreach(name IN LISTS installed)
          if(EXISTS "${folder}/${name}")
            list(APPEND found "${folder}/${name}")
          endif()
        endforeach()
      endforeach()
      set(files ${found})
    endif()
  endif()
  if(NOT files)
    set(files)
  endif()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# tenon_install_operators(TARGET [DESTINATION folder] [PYTHON_DESTINATION folder])
#
# Installs the headers of TARGET's operators, and the YAML files that other libraries' BASE needs, below DESTINATION,
# `include` without it. Install and export TARGET itself with install(TARGETS ... EXPORT ...). PYTHON_DESTINATION gets the
# module of PYTHON_MODULE, with the library that it loads.
function(tenon_install_operators target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DESTINATION;PYTHON_DESTINATION" "")
  if(NOT arg_DESTINATION)
    set(arg_DESTINATION include)
  endif()
  get_target_property(folders ${target} TENON_OPERATOR_FOLDERS)
  get_target_property(files ${target} TENON_OPERATOR_FILES)
  if(NOT folders OR NOT files)
    message(FATAL_ERROR "tenon_install_operators: ${target} has no operators; call tenon_add_operators(${target} ...) first.")
  endif()
  foreach(folder IN LISTS folders)
    install(DIRECTORY "${folder}/" DESTINATION "${arg_DESTINATION}" FILES_MATCHING PATTERN "*.h")
  endforeach()
  if(arg_PYTHON_DESTINATION)
    get_target_property(module ${target} TENON_PYTHON_MODULES)
    if(NOT module)
      message(FATAL_ERROR "tenon_install_operators: ${target} has no module: give tenon_add_operators(${target} ...) a PYTHON_MODULE.")
    endif()
    install(FILES "$<TARGET_FILE_DIR:${target}>/${module}.py" "$<TARGET_FILE:${target}>" DESTINATION "${arg_PYTHON_DESTINATION}")
  endif()
  set(installed)
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    install(FILES "${file}" DESTINATION "${arg_DESTINATION}/${target}")
    list(APPEND installed "${target}/${name}")
  endforeach()
  target_include_directories(${target} PUBLIC "$<INSTALL_INTERFACE:${arg_DESTINATION}>")
  set_property(TARGET ${target} PROPERTY TENON_INSTALLED_OPERATORS "${installed}")
  set_property(TARGET ${target} APPEND PROPERTY EXPORT_PROPERTIES TENON_INSTALLED_OPERATORS)
endfunction()

if(NOT TENON_VERSION)
  set(TENON_VERSION "${PROJECT_VERSION}")
endif()
if(NOT TENON_SHARE_DIR)
  # In Tenon's own tree the same files lie where they are written.
  set(TENON_SHARE_DIR "${PROJECT_SOURCE_DIR}")
  set(TENON_TEMPLATES_DIR "${PROJECT_SOURCE_DIR}/codegen/templates")
endif()
