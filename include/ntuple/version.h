/* SPDX-License-Identifier: MIT */
#ifndef NTUPLE_VERSION_H
#define NTUPLE_VERSION_H

#define NTUPLE_VERSION "0.1.0"

#endif
