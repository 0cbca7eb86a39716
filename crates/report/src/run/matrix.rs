//! Matrices: ratios by a setting and the size of values.
