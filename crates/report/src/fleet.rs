//! Several results of one study, from several machines.
