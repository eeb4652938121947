#pragma once

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>

#include "aten/core/macros.h"

namespace tenon::serialization::detail {

/// The system calls that writing a file rests on. Tests put failing ones in their place.
struct FileCalls {
  ssize_t (*write)(int, const void*, size_t) = ::write;
  int (*fallocate)(int, int, off_t, off_t) = ::fallocate;
  int (*fsync)(int) = ::fsync;
  int (*rename)(const char*, const char*) = std::rename;
};

TENON_API FileCalls& file_calls();

}  // namespace tenon::serialization::detail
