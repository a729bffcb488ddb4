/* SPDX-License-Identifier: MIT
 *
 * libntuple: read RNTuple files of every generation, and other columnar formats, through one model.
 */
#ifndef NTUPLE_NTUPLE_H
#define NTUPLE_NTUPLE_H

#include <ntuple/arrow.h>
#include <ntuple/codec.h>
#include <ntuple/error.h>
#include <ntuple/format.h>
#include <ntuple/model.h>
#include <ntuple/read.h>
#include <ntuple/source.h>
#include <ntuple/version.h>

#endif
