//! Tells the harness by which compiler it was built.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(compiler).arg("--version").output();
    if let Some(version) = output
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
    {
        println!("cargo::rustc-env=STOWPLAN_COMPILER={}", version.trim());
    }
}
