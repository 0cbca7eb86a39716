//! What the operations of a block take altogether.
