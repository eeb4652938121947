# Runs the operator generator within the build.
#
# Which files the generator writes depends on the YAML, so CMake cannot know them when it first runs.
# The generator therefore writes <dir>/sources.cmake with
#   TENON_GEN_CPU_SOURCES, TENON_GEN_CUDA_SOURCES, TENON_GEN_TEST_SOURCES, TENON_GEN_HEADERS
# (absolute paths), and that file is both an output of the generator's rule and an input of CMake. Before
# it builds anything else, Ninja brings build.ninja up to date: it builds tenonc, generates, and runs CMake
# again only where the list changed. The generated files are plain sources to it from then on, and as the
# generator leaves an unchanged file alone, only what changed is compiled.

set(TENON_GEN_DIR "${PROJECT_BINARY_DIR}/gen")
# The classes of modules.yaml.
set(TENON_MODULE_DIR "${PROJECT_BINARY_DIR}/gen-modules")

# tenon_generation_rule(DIR folder INPUTS file... ARGUMENTS argument... [LIST_FROM_INPUTS] [COMMAND command COMMENT text])
#   The rule that runs `tenonc gen ARGUMENTS`, or another command, into DIR; includes DIR/sources.cmake in the caller's scope.
#   LIST_FROM_INPUTS: which files are written depends on INPUTS alone, not on the base operators that ARGUMENTS name too. An edit of
#   the base then has these generated where they are compiled, and not before CMake runs, which an edit of the base waits for.
macro(tenon_generation_rule)
  cmake_parse_arguments(tenon_rule "LIST_FROM_INPUTS" "DIR;COMMAND;COMMENT" "INPUTS;ARGUMENTS" ${ARGN})
  if(NOT tenon_rule_COMMAND)
    set(tenon_rule_COMMAND gen)
    set(tenon_rule_COMMENT "Generating operators")
  endif()
  if(NOT CMAKE_GENERATOR MATCHES "Ninja")
    message(FATAL_ERROR "Tenon itself builds with Ninja: configure with -G Ninja, or with a preset.")
  endif()
  if(NOT EXISTS "${tenon_rule_DIR}/sources.cmake")
    file(WRITE "${tenon_rule_DIR}/sources.cmake" "")
  endif()
  set(tenon_rule_list "${tenon_rule_DIR}/sources.cmake")
  set(tenon_rule_after)
  if(tenon_rule_LIST_FROM_INPUTS)
    add_custom_command(
      OUTPUT "${tenon_rule_DIR}/sources.cmake"
      COMMAND tenonc ${tenon_rule_COMMAND} ${tenon_rule_ARGUMENTS}
      DEPENDS tenonc ${tenon_rule_INPUTS}
      COMMENT "Listing generated files"
      VERBATIM)
    set(tenon_rule_list)
    # The two write the same files: one after the other.
    set(tenon_rule_after "${tenon_rule_DIR}/sources.cmake")
  endif()
  add_custom_command(
    OUTPUT "${tenon_rule_DIR}/gen.stamp" ${tenon_rule_list}
    COMMAND tenonc ${tenon_rule_COMMAND} ${tenon_rule_ARGUMENTS}
    DEPENDS tenonc ${tenon_rule_INPUTS} ${tenon_rule_after}
    DEPFILE "${tenon_rule_DIR}/gen.d"
    COMMENT "${tenon_rule_COMMENT}"
    VERBATIM)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${tenon_rule_DIR}/sources.cmake")
  include("${tenon_rule_DIR}/sources.cmake")
endmacro()

# tenon_generated_objects(NAME): settings of an object library of the library's generated sources.
function(tenon_generated_objects name)
  add_dependencies(${name} tenon_generated)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${TENON_GEN_DIR}" "${TENON_CONFIG_DIR}")
  target_link_libraries(${name} PRIVATE hwy::hwy tenon_flags)
  target_compile_options(${name} PRIVATE ${TENON_LIBRARY_OPTIONS})
  if(TENON_GENERATED_UNSANITIZED)
    set_target_properties(${name} PROPERTIES TENON_UNSANITIZED ON)
  endif()
endfunction()

# The library's own operators.
function(tenon_generate target)
  set(root "${PROJECT_SOURCE_DIR}")
  tenon_find_python(python VENV "${root}/build/venv" REQUIREMENTS "${root}/codegen/requirements.txt" PINNED)
  list(JOIN TENON_BACKENDS "," backends)
  set(yaml --native "${root}/native_functions.yaml" --derivatives "${root}/derivatives.yaml"
           --tags "${root}/tags.yaml" --backends "${backends}")
  set(selection)
  if(TENON_OPERATORS)
    set(selection --operators "${TENON_OPERATORS}" --root "${root}")
  endif()
  set(optimizers --optimizers "${root}/optimizers.yaml")
  set(python_module)
  if(TENON_HAS_PYTHON_MODULE)
    set(python_module --python-module)
  endif()
  tenon_generation_rule(
    DIR "${TENON_GEN_DIR}"
    INPUTS "${root}/native_functions.yaml" "${root}/derivatives.yaml" "${root}/tags.yaml"
           "${root}/optimizers.yaml" "${root}/codegen/render.py" ${TENON_OPERATORS}
    ARGUMENTS ${yaml} ${optimizers} ${selection} ${python_module} --templates "${root}/codegen/templates" --python "${python}" --out "${TENON_GEN_DIR}"
              --depfile "${TENON_GEN_DIR}/gen.d" --stamp "${TENON_GEN_DIR}/gen.stamp")
  add_custom_target(tenon_generated DEPENDS "${TENON_GEN_DIR}/gen.stamp")
  add_dependencies(${target} tenon_generated)
  tenon_check_kernels(${target} COMPILER tenonc OUT "${TENON_GEN_DIR}"
    KERNELS "${root}/aten/composite" "${root}/aten/conjugate" "${root}/aten/cpu" "${root}/aten/cuda" "${root}/aten/meta" "${root}/aten/sparse"
    ARGUMENTS ${yaml} DEPENDS "${TENON_GEN_DIR}/gen.stamp")
  set(kernels ${TENON_GEN_CPU_SOURCES})
  list(FILTER kernels INCLUDE REGEX "/(pointwise|rowwise)/[^/]+\\.cpp$")
  list(REMOVE_ITEM TENON_GEN_CPU_SOURCES ${kernels})
  if(kernels)
    tenon_vector_objects(${target} ${target}_kernels ${kernels})
    tenon_generated_objects(${target}_kernels)
  endif()
  # Calls and derivatives are many small files, so that an edit compiles little. Their common headers are compiled once.
  set(calls ${TENON_GEN_CPU_SOURCES})
  list(FILTER calls INCLUDE REGEX "/(autograd|operators)_[0-9]+\\.cpp$")
  list(REMOVE_ITEM TENON_GEN_CPU_SOURCES ${calls})
  if(calls)
    add_library(${target}_calls OBJECT ${calls})
    tenon_precompile(${target}_calls aten/generated_support/composition.h aten/generated_support/foreach.h aten/iterator/update.h
                     aten/meta/structured.h aten/registration/boxing.h autograd/forward/forward_call.h autograd/generated_support/formulas.h
                     autograd/generated_support/generated_support.h autograd/views/update_checks.h)
    tenon_generated_objects(${target}_calls)
    # Padding before jumps is a twentieth of their code.
    target_compile_options(${target}_calls PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-falign-jumps=1;-falign-loops=1>")
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_calls>)
  endif()
  target_sources(${target} PRIVATE ${TENON_GEN_CPU_SOURCES})
  if(TENON_CUDA)
    target_sources(${target} PRIVATE ${TENON_GEN_CUDA_SOURCES})
  endif()
  set(TENON_GEN_TEST_SOURCES "${TENON_GEN_TEST_SOURCES}" PARENT_SCOPE)
  set(TENON_UNUSED_SOURCES "${TENON_UNUSED_SOURCES}" PARENT_SCOPE)
  set(TENON_GEN_OPTIM_SOURCES "${TENON_GEN_OPTIM_SOURCES}" PARENT_SCOPE)
  set(TENON_GEN_PYTHON_SOURCES "${TENON_GEN_PYTHON_SOURCES}" PARENT_SCOPE)
  set(TENON_GEN_PYTHON_FILES "${TENON_GEN_PYTHON_FILES}" PARENT_SCOPE)
  set(TENON_PYTHON_USED "${python}" PARENT_SCOPE)
endfunction()

# The classes and functions of modules.yaml: C++ into `target`, Python's for the package.
function(tenon_generate_modules target)
  set(root "${PROJECT_SOURCE_DIR}")
  tenon_generation_rule(
    COMMAND modules COMMENT "Generating modules"
    DIR "${TENON_MODULE_DIR}"
    INPUTS "${root}/modules.yaml" "${root}/native_functions.yaml" "${root}/codegen/render.py"
    ARGUMENTS "${root}/modules.yaml" --native "${root}/native_functions.yaml" --templates "${root}/codegen/module_templates"
              --python "${TENON_PYTHON_USED}" --out "${TENON_MODULE_DIR}"
              --depfile "${TENON_MODULE_DIR}/gen.d" --stamp "${TENON_MODULE_DIR}/gen.stamp")
  add_custom_target(tenon_modules_generated DEPENDS "${TENON_MODULE_DIR}/gen.stamp")
  add_dependencies(${target} tenon_modules_generated)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${TENON_MODULE_DIR}>")
  target_sources(${target} PRIVATE ${TENON_MODULE_SOURCES})
  set(TENON_MODULE_PYTHON "${TENON_MODULE_PYTHON}" PARENT_SCOPE)
endfunction()
