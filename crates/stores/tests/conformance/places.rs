//! Checks of what a store finds where it is made or opened.

use super::subject::{Outcome, Subject, ensure, expect_missing, expect_value, fill, value};
use crate::Kind;
use stowplan_model::{SettingKind, Settings, Value};

const KEYS: u64 = 2;
const BYTES: usize = 3000;

/// Where there is a store, none is made; where there is none, none is opened, or one in which nothing
/// is (an empty directory is a store of files), and none is made either.
pub(super) fn places(subject: &Subject<'_>) -> Outcome {
    if !subject.capabilities.persistent {
        return Ok(());
    }
    if let Ok(store) = subject.open() {
        let used = subject.with_session(&*store, |session| expect_missing(session, 1));
        ensure(used.is_err() || store.footprint()?.files == 0, || {
            "it was opened where nothing is".to_owned()
        })?;
    }
    ensure(subject.is_empty()?, || {
        "opening it where nothing is left something there".to_owned()
    })?;
    let store = subject.create()?;
    subject.with_session(&*store, |session| fill(session, KEYS, BYTES))?;
    drop(store);
    ensure(subject.create().is_err(), || {
        "it was created where there is one already".to_owned()
    })?;
    let store = subject.open()?;
    subject.with_session(&*store, |session| {
        expect_value(session, KEYS, &value(KEYS, 0, BYTES))
    })
}

/// A store whose keys have one form is not opened as one of another form: its keys would not be
/// found, or be found in another order.
pub(super) fn key_forms(subject: &Subject<'_>) -> Outcome {
    let Some(other) = with_another_key_form(subject.kind, subject.settings) else {
        return Ok(());
    };
    if !subject.capabilities.persistent {
        return Ok(());
    }
    let store = subject.create()?;
    subject.with_session(&*store, |session| fill(session, KEYS, BYTES))?;
    drop(store);
    ensure(subject.open_with(&other).is_err(), || {
        "it was opened with keys of another form".to_owned()
    })?;
    let store = subject.open()?;
    subject.with_session(&*store, |session| {
        expect_value(session, KEYS, &value(KEYS, 0, BYTES))
    })
}

/// The same settings with keys of another form, if the store has several and can do with that.
fn with_another_key_form(kind: &Kind, settings: &Settings) -> Option<Settings> {
    let key = kind
        .settings()
        .iter()
        .find(|setting| setting.name == "key")?;
    let SettingKind::Choice(forms) = &key.kind else {
        return None;
    };
    let other = forms
        .iter()
        .find(|form| **form != settings.word(key.name))?;
    let mut settings = settings.clone();
    settings.set(key.name, Value::Word((*other).to_owned()));
    kind.capabilities(&settings).is_ok().then_some(settings)
}
