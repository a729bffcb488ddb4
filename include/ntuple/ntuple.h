/* SPDX-License-Identifier: MIT
 *
 * libntuple: read RNTuple files of every generation, and other columnar formats, through one model.
 */
#ifndef NTUPLE_NTUPLE_H
#define NTUPLE_NTUPLE_H

#include <ntuple/arrow.h>
#include <ntuple/selection.h>
#include <ntuple/dataset.h>
#include <ntuple/document.h>
#include <ntuple/element.h>
#include <ntuple/error.h>
#include <ntuple/format.h>
#include <ntuple/read.h>
#include <ntuple/source.h>
#include <ntuple/text.h>
#include <ntuple/version.h>

#endif
