//! All answers of a run at a glance: what to do, and why to believe it.
