//! Tells the program which commit and compiler it was built from. A source tree without git, or
//! a machine without it, builds as well; the commit is then unknown.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Ok(level) = env::var("OPT_LEVEL") {
        println!("cargo::rustc-env=STOWPLAN_OPT_LEVEL={level}");
    }
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    if let Some(version) = line_of(&compiler, &["--version"]) {
        println!("cargo::rustc-env=STOWPLAN_COMPILER={version}");
    }
    // A package unpacked below somebody else's repository is not in it.
    if line_of("git", &["ls-files", "--error-unmatch", "Cargo.toml"]).is_none() {
        return;
    }
    if let Some(commit) = line_of("git", &["rev-parse", "HEAD"]) {
        println!("cargo::rustc-env=STOWPLAN_COMMIT={commit}");
    }
    // HEAD names the branch, and the branch's file the commit.
    watch("HEAD");
    if let Some(branch) = line_of("git", &["symbolic-ref", "--quiet", "HEAD"]) {
        watch(&branch);
    }
}

/// Builds again when a file in git's directory changes. Naming one that does not exist would
/// build again every time.
fn watch(name: &str) {
    if let Some(path) = line_of("git", &["rev-parse", "--git-path", name])
        && Path::new(&path).exists()
    {
        println!("cargo::rerun-if-changed={path}");
    }
}

/// The first line that a command prints, if it succeeds and prints one.
fn line_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}
