//! Charts of ratios, beside the published ones.
