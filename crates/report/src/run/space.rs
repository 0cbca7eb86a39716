//! What stores take on disk.
