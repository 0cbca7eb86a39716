//! A document as text for a terminal.
