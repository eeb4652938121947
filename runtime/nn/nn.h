#pragma once

/// All of tenon::nn, for users.

#include "runtime/nn/any_module.h"
#include "runtime/nn/cloneable.h"
#include "runtime/nn/functional.h"
#include "runtime/nn/init.h"
#include "runtime/nn/module.h"
#include "runtime/nn/modules/activation.h"
#include "runtime/nn/modules/conv.h"
#include "runtime/nn/modules/embedding.h"
#include "runtime/nn/modules/functional_module.h"
#include "runtime/nn/modules/linear.h"
#include "runtime/nn/modules/loss.h"
#include "runtime/nn/modules/module_dict.h"
#include "runtime/nn/modules/module_list.h"
#include "runtime/nn/modules/normalization.h"
#include "runtime/nn/modules/parameter_list.h"
#include "runtime/nn/modules/pooling.h"
#include "runtime/nn/modules/sequential.h"
#include "runtime/nn/options.h"
