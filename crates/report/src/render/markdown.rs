//! A document as Markdown.
