//! A document as one HTML file that needs no network.
