//! Charts of bars: measured quantities side by side.
