#include "aten/cpu/vec/scalar_math-inl.h"
