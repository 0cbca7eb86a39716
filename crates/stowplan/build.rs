//! Tells the program which commit it was built from. A source tree without git, or a machine without it,
//! builds as well; the commit is then unknown. It stands in this crate, the topmost, so that a commit
//! recompiles nothing but it.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A package unpacked below somebody else's repository is not in it.
    if line_of(&["ls-files", "--error-unmatch", "Cargo.toml"]).is_none() {
        return;
    }
    if let Some(commit) = line_of(&["rev-parse", "HEAD"]) {
        println!("cargo::rustc-env=STOWPLAN_COMMIT={commit}");
    }
    // HEAD names the branch, and the branch's file the commit.
    watch("HEAD");
    if let Some(branch) = line_of(&["symbolic-ref", "--quiet", "HEAD"]) {
        watch(&branch);
    }
}

/// Builds again when a file in git's directory changes. Naming one that does not exist would
/// build again every time.
fn watch(name: &str) {
    if let Some(path) = line_of(&["rev-parse", "--git-path", name])
        && Path::new(&path).exists()
    {
        println!("cargo::rerun-if-changed={path}");
    }
}

/// The first line that git prints, if it succeeds and prints one.
fn line_of(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}
