//! Names in an archive, and the paths that they stand for: relative, below the target, or refused.
//!
//! The `sqlite3` shell stores names as they are typed, so `./a`, `dir//a` and `dir/` occur.

/// A path has at most so many levels: each keeps a directory open while it is walked.
pub(crate) const LEVELS_MAX: usize = 256;
/// The longest name of a file, in bytes, as Linux has it.
const NAME_MAX: usize = 255;
/// The name under which the packed directory itself stands, for its mode and time.
pub(crate) const ROOT: &str = ".";

/// The path that a name stands for, below whatever it is unpacked to: components separated by single
/// slashes, none of them `.` or `..`. Empty for the directory itself.
///
/// # Errors
/// The name could lead elsewhere, or to no file: why, in a few words.
pub fn path_of(name: &str) -> Result<String, &'static str> {
    if name.is_empty() {
        return Err("its name is empty");
    }
    if name.starts_with('/') {
        return Err("its name is absolute");
    }
    if name.contains('\0') {
        return Err("its name has a zero byte in it");
    }
    let mut path = String::with_capacity(name.len());
    let mut levels = 0;
    for component in name.split('/') {
        match component {
            "" | "." => continue,
            ".." => return Err("its name leads out of the target by '..'"),
            component if component.len() > NAME_MAX => {
                return Err("a part of its name is longer than 255 bytes");
            }
            component => {
                if levels > 0 {
                    path.push('/');
                }
                path.push_str(component);
                levels += 1;
            }
        }
    }
    if levels > LEVELS_MAX {
        return Err("it lies more than 256 directories deep");
    }
    Ok(path)
}

/// The names under which a path may stand in an archive: ours, then the shell's with `-C DIR .`
/// and for directories.
pub(crate) fn stored_names(path: &str) -> [String; 4] {
    if path.is_empty() {
        return [ROOT, "./", "", ""].map(str::to_owned);
    }
    [
        path.to_owned(),
        format!("./{path}"),
        format!("{path}/"),
        format!("./{path}/"),
    ]
}

/// The name under which a path is stored.
pub(crate) fn stored_name(path: &str) -> &str {
    match path {
        "" => ROOT,
        path => path,
    }
}

/// The directory of a path, and the last component; nothing for the root.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_path_below_the_target_or_refused() {
        for (name, path) in [
            ("a", "a"),
            ("a/b.txt", "a/b.txt"),
            ("./a", "a"),
            ("a//b/", "a/b"),
            ("a/./b", "a/b"),
            (".", ""),
            ("./", ""),
            ("..a/b..", "..a/b.."),
            ("a\\..\\b", "a\\..\\b"),
            ("...", "..."),
        ] {
            assert_eq!(path_of(name).as_deref(), Ok(path), "{name}");
        }
        assert!(path_of(&"a".repeat(NAME_MAX)).is_ok());
        for name in [
            "",
            &"a".repeat(NAME_MAX + 1),
            "/",
            "/etc/x",
            "..",
            "../x",
            "a/../../x",
            "a/..",
            "a\0b",
            "//x",
        ] {
            assert!(path_of(name).is_err(), "{name:?}");
        }
        assert!(path_of(&"a/".repeat(LEVELS_MAX)).is_ok());
        assert!(path_of(&"a/".repeat(LEVELS_MAX + 1)).is_err());
    }

    #[test]
    fn a_path_is_split_at_its_last_component() {
        assert_eq!(split("a/b/c"), ("a/b", "c"));
        assert_eq!(split("c"), ("", "c"));
    }
}
