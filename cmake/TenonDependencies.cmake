# Finds what Tenon is built on. A missing required piece is an error that names the Debian package;
# a missing optional piece turns its feature off, and the configure summary says so.
#
# Sets TENON_<NAME>_TARGET, empty where an optional piece is off, and writes
# tenon/config.h with TENON_HAS_CUDA, TENON_HAS_CURL, TENON_HAS_GLOO, TENON_HAS_ONEDNN, TENON_HAS_OPENMP, TENON_HAS_OPENSSL,
# TENON_HAS_ZLIB, each 0 or 1.

set(TENON_SUMMARY)

function(tenon_note name state text)
  string(LENGTH "${name}" length)
  math(EXPR padding "14 - ${length}")
  string(REPEAT " " ${padding} padding)
  string(LENGTH "${state}" length)
  math(EXPR gap "12 - ${length}")
  string(REPEAT " " ${gap} gap)
  set(TENON_SUMMARY "${TENON_SUMMARY}  ${name}${padding}${state}${gap}${text}\n" PARENT_SCOPE)
endfunction()

macro(tenon_require package debian_package purpose)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found; it is needed for ${purpose}. "
                        "On Debian: apt-get install ${debian_package}, or run ./tenon setup.")
  endif()
  tenon_note("${package}" "${${package}_VERSION}" "${purpose}")
endmacro()

# tenon_optional(NAME package target debian_package purpose): sets TENON_HAS_<NAME> and TENON_<NAME>_TARGET.
macro(tenon_optional name package target debian_package purpose)
  set(TENON_HAS_${name} 0)
  set(TENON_${name}_TARGET)
  if(TENON_${name})
    find_package(${package} QUIET)
    if(TARGET ${target})
      set(TENON_HAS_${name} 1)
      set(TENON_${name}_TARGET ${target})
      if(${package}_VERSION)
        tenon_note("${package}" "${${package}_VERSION}" "${purpose}")
      else()
        tenon_note("${package}" "found" "${purpose}")
      endif()
    else()
      tenon_note("${package}" "not found" "off: ${purpose} (apt-get install ${debian_package})")
    endif()
  else()
    tenon_note("${package}" "off" "${purpose} (TENON_${name}=OFF)")
  endif()
endmacro()

tenon_require(yaml-cpp libyaml-cpp-dev "the generator's YAML front end")
tenon_require(nlohmann_json nlohmann-json3-dev "the generator's intermediate form")
tenon_require(hwy libhwy-dev "SIMD kernels")
find_package(Threads REQUIRED)
tenon_optional(OPENMP OpenMP OpenMP::OpenMP_CXX g++ "threads within an operator")
tenon_optional(ONEDNN OneDNN OneDNN::dnnl libdnnl-dev "fast matrix products and convolutions")
tenon_optional(ZLIB ZLIB ZLIB::ZLIB zlib1g-dev "archive checksums and compression")
tenon_optional(OPENSSL OpenSSL OpenSSL::Crypto libssl-dev "SHA-256: digests in sharded checkpoints, the hub's downloads")
tenon_optional(CURL CURL CURL::libcurl libcurl4-openssl-dev "the hub's downloads over http and https")
tenon_optional(GLOO Gloo gloo libgloo-dev "training with several processes")

set(TENON_HAS_CUDA 0)
set(TENON_CUDA_TARGETS)
set(TENON_BACKENDS CPU)
if(TENON_CUDA STREQUAL "emulated")
  include(TenonCudaEmulation)
  set(TENON_HAS_CUDA 1)
  list(APPEND TENON_BACKENDS CUDA)
  set(TENON_CUDA_TARGETS tenon_cuda_emulated)
  tenon_note("CUDA" "emulated" "kernels run on the CPU, for tests (docs/cuda_emulation.md)")
elseif(TENON_CUDA)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(TENON_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin)
    if(NOT TENON_NVCC)
      message(FATAL_ERROR "TENON_CUDA is on, and nvcc was found neither on PATH nor in /usr/local/cuda/bin. "
                          "Install the CUDA Toolkit, set CUDACXX, or use the preset `release`.")
    endif()
    set(CMAKE_CUDA_COMPILER "${TENON_NVCC}")
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90")
  endif()
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  enable_language(CUDA)
  include(TenonCudaStandard)
  find_package(CUDAToolkit REQUIRED)
  if(NOT TARGET CUDA::cublasLt)
    message(FATAL_ERROR "TENON_CUDA is on, and cuBLASLt was not found beside ${CMAKE_CUDA_COMPILER}. "
                        "Install the CUDA Toolkit's cuBLAS development files.")
  endif()
  set(TENON_HAS_CUDA 1)
  list(APPEND TENON_BACKENDS CUDA)
  set(TENON_CUDA_TARGETS CUDA::cudart CUDA::cublasLt)
  # A machine with only a driver and the CUDA libraries keeps them here.
  list(APPEND CMAKE_BUILD_RPATH /usr/local/cuda/lib64)
  tenon_note("CUDA" "${CUDAToolkit_VERSION}" "for ${CMAKE_CUDA_ARCHITECTURES}")
else()
  tenon_note("CUDA" "off" "no GPU kernels (preset cuda, or TENON_CUDA=ON)")
endif()

# A header, and not definitions on the command line: only the files that ask are compiled differently
# when a piece comes or goes, so that the presets share cached objects.
set(TENON_CONFIG_DIR "${PROJECT_BINARY_DIR}/include")
configure_file("${PROJECT_SOURCE_DIR}/cmake/config.h.in" "${TENON_CONFIG_DIR}/tenon/config.h" @ONLY)
