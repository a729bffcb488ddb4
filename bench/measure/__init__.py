# SPDX-License-Identifier: MIT
"""What bench/run measures, one kind of measurement in each module."""
