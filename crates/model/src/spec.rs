//! Store specs: `sqlite:api=blob,page_size=8192,journal=wal`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A store's kind and the settings that someone gave for it, such as `sqlite:api=blob,page_size=8192`: not yet
/// checked against what the kind accepts.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "String")
)]
#[serde(try_from = "String", into = "String")]
pub struct StoreSpec {
    /// The kind of store: `sqlite`, `files`, `flat`, … Behind the name of a driver and a slash
    /// (`mine/sqlite`) it is that driver's, else one that is built in or, where none is, that of the
    /// driver of its own name.
    pub kind: String,
    /// Settings as written, by name.
    pub settings: BTreeMap<String, String>,
}

/// Why a store spec could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct SpecError(String);

impl FromStr for StoreSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let wrong = |what: String| SpecError(format!("store spec '{text}' {what}"));
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let kind = kind.trim();
        if kind.is_empty() {
            let example = "has no store name; write for example sqlite:api=blob,page_size=8192";
            return Err(wrong(example.to_owned()));
        }
        let mut settings = BTreeMap::new();
        for part in rest
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (name, value) = part.split_once('=').unwrap_or_default();
            let (name, value) = (name.trim().replace('-', "_"), value.trim());
            if name.is_empty() || value.is_empty() {
                return Err(SpecError(format!(
                    "store spec '{text}': '{part}' is not of the form name=value"
                )));
            }
            if settings.insert(name.clone(), value.to_owned()).is_some() {
                return Err(wrong(format!("gives '{name}' twice")));
            }
        }
        Ok(Self {
            kind: kind.to_owned(),
            settings,
        })
    }
}

impl StoreSpec {
    /// The driver that hosts it; empty: the program itself.
    pub fn driver(&self) -> &str {
        self.kind.split_once('/').map_or("", |(driver, _)| driver)
    }

    /// The kind, as its driver calls it.
    pub fn name(&self) -> &str {
        let named = self.kind.split_once('/');
        named.map_or(&self.kind, |(_, name)| name)
    }

    /// The kind in names of files: `mine+sqlite`, where a driver is named.
    pub fn kind_in_paths(&self) -> String {
        self.kind.replace('/', "+")
    }

    /// Returns the store as one that a driver hosts.
    #[must_use]
    pub fn of_driver(mut self, driver: &str) -> Self {
        if !driver.is_empty() {
            self.kind = format!("{driver}/{}", self.kind);
        }
        self
    }

    /// The spec of `kind` with every one of these settings spelled out.
    pub fn spelled_out(kind: &str, settings: &crate::Settings) -> Self {
        let settings = settings.iter();
        Self {
            kind: kind.to_owned(),
            settings: settings
                .map(|(n, v)| (n.to_owned(), v.to_string()))
                .collect(),
        }
    }
}

impl TryFrom<String> for StoreSpec {
    type Error = SpecError;
    fn try_from(text: String) -> Result<Self, SpecError> {
        text.parse()
    }
}

impl From<StoreSpec> for String {
    fn from(spec: StoreSpec) -> Self {
        spec.to_string()
    }
}

impl fmt::Display for StoreSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.settings.iter().map(|(n, v)| format!("{n}={v}"));
        let pairs: Vec<String> = pairs.collect();
        let colon = if pairs.is_empty() { "" } else { ":" };
        f.pad(&format!("{}{colon}{}", self.kind, pairs.join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_reads_back_as_written_and_one_that_is_malformed_is_refused() {
        let spec: StoreSpec = "sqlite:journal=wal,page-size=8192".parse().unwrap();
        assert_eq!(spec.to_string(), "sqlite:journal=wal,page_size=8192");
        for bad in [
            "",
            ":a=b",
            "sqlite:api",
            "sqlite:=x",
            "sqlite:a=",
            "sqlite:a=1,a=2",
        ] {
            assert!(bad.parse::<StoreSpec>().is_err(), "{bad}");
        }
    }
}
