//! The machine, the file system, the program and its engines.
