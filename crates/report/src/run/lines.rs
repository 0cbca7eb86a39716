//! Charts of lines: measured quantities against a setting.
