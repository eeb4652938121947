# tenon_add_torch_extension(NAME YAML file)
#
# A shared library NAME that gives PyTorch the operators of the file: schema, kernels, derivatives of any order, meta functions, rules for
# vmap and autocast (docs/standalone.md). torch.ops.load_library("libNAME.so") loads it into Python; a program of libtorch links it. It
# needs PyTorch, which find_package(Torch) has found before, and nothing of Tenon when it runs. Kernels are for one instruction set, as
# TENON_INSTRUCTION_SETS says; with `all`, the baseline's. CUDA kernels of pointwise entries are compiled if the project has a CUDA compiler
# and PyTorch is a CUDA build. An error in the YAML is an error of NAME's build, with its place.
function(tenon_add_torch_extension name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "YAML" "")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_YAML)
    message(FATAL_ERROR "tenon_add_torch_extension(${name}): expected YAML and a file, got '${ARGN}'.")
  endif()
  get_filename_component(path "${arg_YAML}" ABSOLUTE)
  if(NOT EXISTS "${path}")
    message(FATAL_ERROR "tenon_add_torch_extension(${name}): YAML file ${path} does not exist.")
  endif()
  if(NOT TARGET torch)
    message(FATAL_ERROR "tenon_add_torch_extension(${name}): PyTorch is missing: call find_package(Torch REQUIRED) before.")
  endif()
  set(backends CPU)
  if(CMAKE_CUDA_COMPILER AND C10_CUDA_LIBRARY)
    set(backends CPU,CUDA)
    # CMake reads these when it generates, in the scope of the caller.
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/TenonCudaStandard.cmake")
    foreach(option IN ITEMS CMAKE_CUDA20_STANDARD_COMPILE_OPTION CMAKE_CUDA20_EXTENSION_COMPILE_OPTION)
      set(${option} "${${option}}" PARENT_SCOPE)
    endforeach()
  endif()
  set(out "${CMAKE_CURRENT_BINARY_DIR}/tenon_${name}")
  add_library(${name} SHARED)
  tenon_run_generator(${name} OUT "${out}" SUFFIX "" INPUTS "${path}"
    ARGUMENTS --native "${path}" --tags "${TENON_SHARE_DIR}/tags.yaml" --backends "${backends}"
    BASE --base "${TENON_SHARE_DIR}/native_functions.yaml"
    GEN --target torch --templates "${TENON_TEMPLATES_DIR}" --out "${out}" --depfile "${out}/gen.d" --stamp "${out}/gen.stamp")
  target_sources(${name} PRIVATE ${TENON_GEN_CPU_SOURCES} ${TENON_GEN_CUDA_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  set(options ${TENON_KERNEL_OPTIONS} -fvisibility=hidden -fno-math-errno -fno-trapping-math -ffp-contract=off)
  target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${options}>"
                         "$<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;--expt-relaxed-constexpr>")
  # The headers alone.
  target_include_directories(${name} PRIVATE "${out}")
  target_include_directories(${name} SYSTEM PRIVATE $<TARGET_PROPERTY:Tenon::tenon,INTERFACE_INCLUDE_DIRECTORIES>
                             $<TARGET_PROPERTY:hwy::hwy,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_options(${name} PRIVATE -Wl,-Bsymbolic)
  target_link_libraries(${name} PRIVATE ${TORCH_LIBRARIES} torch)
endfunction()
