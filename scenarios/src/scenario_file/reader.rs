//! Reads keys out of a scenario file, with `--set` on top, and says of every error where it is, what was expected and
//! what was probably meant.

use super::error::{ScenarioError, nearest};
use groundhog_sim::plan::{Draw, Key, KeySource};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One `--set key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key with its section, such as `links.channels`.
    pub key: String,
    /// The value as TOML; a bare word is a string.
    pub value: String,
}

/// A value, and where it stands.
pub struct Found<'a> {
    value: Spanned<DeValue<'a>>,
    /// The text that its spans count in; `None` for a setting.
    in_file: bool,
}

/// The file's table and what has been asked of it so far.
pub struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    table: &'a DeTable<'a>,
    settings: &'a [Setting],
    known: Vec<String>,
}

impl<'a> Reader<'a> {
    pub fn new(file: &'a str, text: &'a str, table: &'a DeTable<'a>, settings: &'a [Setting]) -> Self {
        Self { file, text, table, settings, known: Vec::new() }
    }

    /// The error at `span` of the file, about `key`.
    pub fn error(&self, key: &str, span: Option<Range<usize>>, what: String) -> ScenarioError {
        let line = span.map(|span| line_of(self.text, span.start));
        ScenarioError { file: self.file.to_owned(), line, key: key.to_owned(), what }
    }

    fn error_in(&self, key: &str, found: &Found<'_>, span: Range<usize>, what: String) -> ScenarioError {
        if found.in_file {
            self.error(key, Some(span), what)
        } else {
            ScenarioError { file: "--set".to_owned(), line: None, key: key.to_owned(), what }
        }
    }

    /// The value of `section.name`, or of `name` where the section is empty: the last setting, or the file's.
    pub fn find(&mut self, section: &str, name: &str) -> Result<Option<Found<'a>>, ScenarioError> {
        let key = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        let setting = self.settings.iter().rev().find(|setting| setting.key == key);
        self.known.push(key);
        if let Some(setting) = setting {
            return Ok(Some(Found { value: setting_value(&setting.value), in_file: false }));
        }
        let table = if section.is_empty() { Some(self.table) } else { self.section(section)? };
        let value = table.and_then(|table| table.get(name)).cloned();
        Ok(value.map(|value| Found { value, in_file: true }))
    }

    /// The table of a section, if the file has it.
    pub fn section(&self, section: &str) -> Result<Option<&'a DeTable<'a>>, ScenarioError> {
        let Some(value) = self.table.get(section) else { return Ok(None) };
        let Some(table) = value.get_ref().as_table() else {
            let what = format!("expected a table [{section}], found {}", value.get_ref().type_str());
            return Err(self.error(section, Some(value.span()), what));
        };
        Ok(Some(table))
    }

    /// The error about the value of a key where somebody gave it one; `None` where it has its default.
    pub fn error_at(&mut self, section: &str, name: &str, what: String) -> Option<ScenarioError> {
        let found = self.find(section, name).ok()??;
        Some(self.error_in(&format!("{section}.{name}"), &found, found.value.span(), what))
    }

    /// An integer within `range` that is no distribution.
    pub fn integer(
        &mut self,
        name: &str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<Option<i64>, ScenarioError> {
        let Some(found) = self.find("", name)? else { return Ok(None) };
        let value = integer(&found.value, &range, "");
        value.map(Some).map_err(|(span, what)| self.error_in(name, &found, span, what))
    }

    /// A text.
    pub fn string(&mut self, name: &str) -> Result<Option<String>, ScenarioError> {
        let Some(found) = self.find("", name)? else { return Ok(None) };
        match found.value.get_ref().as_str() {
            Some(text) => Ok(Some(text.to_owned())),
            None => {
                let what = format!("expected a string, found {}", found.value.get_ref().type_str());
                Err(self.error_in(name, &found, found.value.span(), what))
            }
        }
    }

    /// One of `names`, or a choice among them by weight.
    pub fn names(
        &mut self,
        name: &str,
        names: &[&'static str],
    ) -> Result<Option<Vec<(usize, u32)>>, ScenarioError> {
        let Some(found) = self.find("", name)? else { return Ok(None) };
        let read = |value: &Spanned<DeValue<'_>>| one_name(value, names);
        let choice = match found.value.get_ref() {
            DeValue::Table(table) => choices(found.value.span(), table, read),
            _ => read(&found.value).map(|place| vec![(place, 1)]),
        };
        choice.map(Some).map_err(|(span, what)| self.error_in(name, &found, span, what))
    }

    /// Says which keys of file and settings nobody asked for. `free` is a section whose keys are names of its own.
    pub fn finish(&self, free: &str) -> Result<(), ScenarioError> {
        let sections: Vec<&str> =
            self.known.iter().filter_map(|key| key.split_once('.')).map(|(name, _)| name).collect();
        let is_free = |key: &str| key.split_once('.').is_some_and(|(section, _)| section == free);
        for (name, value) in self.table {
            let key = name.get_ref();
            if key == free || self.known.iter().any(|known| known == key) {
                continue;
            }
            if !sections.contains(&key.as_ref()) {
                let candidates = self.known.iter().map(String::as_str).chain(sections.iter().copied());
                return Err(self.unknown(key, Some(name.span()), candidates));
            }
            let Some(table) = value.get_ref().as_table() else { continue };
            for name in table.keys() {
                let full = format!("{key}.{}", name.get_ref());
                if !self.known.contains(&full) {
                    return Err(self.unknown(
                        &full,
                        Some(name.span()),
                        self.known.iter().map(String::as_str),
                    ));
                }
            }
        }
        for setting in self.settings {
            if !self.known.contains(&setting.key) && !is_free(&setting.key) {
                let mut error = self.unknown(&setting.key, None, self.known.iter().map(String::as_str));
                error.file = "--set".to_owned();
                return Err(error);
            }
        }
        Ok(())
    }

    fn unknown<'n>(
        &self,
        key: &str,
        span: Option<Range<usize>>,
        candidates: impl Iterator<Item = &'n str>,
    ) -> ScenarioError {
        let what = match nearest(key, candidates) {
            Some(near) => format!("no such key; the nearest is `{near}`"),
            None => "no such key".to_owned(),
        };
        self.error(key, span, what)
    }
}

impl KeySource for Reader<'_> {
    type Error = ScenarioError;

    fn draw(&mut self, key: &Key) -> Result<Draw, ScenarioError> {
        let Some(found) = self.find(key.section, key.name)? else { return Ok(Draw::Fixed(key.default)) };
        distribution(&found.value, key).map_err(|(span, what)| {
            self.error_in(&format!("{}.{}", key.section, key.name), &found, span, what)
        })
    }
}

type Misread = (Range<usize>, String);

fn distribution(value: &Spanned<DeValue<'_>>, key: &Key) -> Result<Draw, Misread> {
    let DeValue::Table(table) = value.get_ref() else {
        return integer(value, &key.range, " or a distribution of them").map(Draw::Fixed);
    };
    if table.contains_key("min") || table.contains_key("max") {
        only(table, &["min", "max"])?;
        let end = |name: &str| match table.get(name) {
            Some(value) => integer(value, &key.range, ""),
            None => Err((value.span(), format!("expected both min and max: {name} is missing"))),
        };
        let (min, max) = (end("min")?, end("max")?);
        if min > max {
            return Err((value.span(), format!("min {min} is greater than max {max}")));
        }
        return Ok(Draw::Between(min, max));
    }
    choices(value.span(), table, |value| integer(value, &key.range, "")).map(Draw::OneOf)
}

fn choices<T>(
    span: Range<usize>,
    table: &DeTable<'_>,
    read: impl Fn(&Spanned<DeValue<'_>>) -> Result<T, Misread>,
) -> Result<Vec<(T, u32)>, Misread> {
    only(table, &["min", "max", "choices", "weights"])?;
    let array = |name: &str| match table.get(name).map(|value| (value.span(), value.get_ref().as_array())) {
        None => Ok(None),
        Some((_, Some(array))) => Ok(Some(array)),
        Some((span, None)) => Err((span, format!("expected a list under {name}"))),
    };
    let Some(items) = array("choices")?.filter(|items| !items.is_empty()) else {
        return Err((
            span,
            "expected { min, max } or { choices = [..], weights = [..] } with at least one choice".to_owned(),
        ));
    };
    let weights = match array("weights")? {
        None => vec![1; items.len()],
        Some(weights) => weights
            .iter()
            .map(|weight| integer(weight, &(0..=1_000_000), "").map(|weight| weight as u32))
            .collect::<Result<_, _>>()?,
    };
    if weights.len() != items.len() {
        return Err((span, format!("{} choices and {} weights", items.len(), weights.len())));
    }
    if weights.iter().all(|weight| *weight == 0) {
        return Err((span, "every weight is 0".to_owned()));
    }
    items.iter().zip(weights).map(|(item, weight)| Ok((read(item)?, weight))).collect()
}

fn only(table: &DeTable<'_>, names: &[&str]) -> Result<(), Misread> {
    for name in table.keys() {
        let text = name.get_ref().as_ref();
        if !names.contains(&text) {
            let near = nearest(text, names.iter().copied()).map(|near| format!("; the nearest is `{near}`"));
            let expected = names.join(", ");
            return Err((
                name.span(),
                format!("no `{text}` in a distribution, expected {expected}{}", near.unwrap_or_default()),
            ));
        }
    }
    Ok(())
}

/// `or` says what else the value may be.
fn integer(
    value: &Spanned<DeValue<'_>>,
    range: &std::ops::RangeInclusive<i64>,
    or: &str,
) -> Result<i64, Misread> {
    let expected = || format!("an integer from {} to {}", range.start(), range.end());
    let DeValue::Integer(digits) = value.get_ref() else {
        let what = format!("expected {}{or}, found {}", expected(), value.get_ref().type_str());
        return Err((value.span(), what));
    };
    i64::from_str_radix(digits.as_str(), digits.radix())
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(|| (value.span(), format!("expected {}, found {digits}", expected())))
}

fn one_name(value: &Spanned<DeValue<'_>>, names: &[&'static str]) -> Result<usize, Misread> {
    let expected = names.join(", ");
    let Some(text) = value.get_ref().as_str() else {
        return Err((
            value.span(),
            format!("expected one of {expected}, found {}", value.get_ref().type_str()),
        ));
    };
    names.iter().position(|name| *name == text).ok_or_else(|| {
        let near = nearest(text, names.iter().copied()).map(|near| format!("; the nearest is `{near}`"));
        (value.span(), format!("expected one of {expected}, found \"{text}\"{}", near.unwrap_or_default()))
    })
}

/// The value as TOML; what is no TOML value is a bare word.
fn setting_value(text: &str) -> Spanned<DeValue<'_>> {
    DeValue::parse(text).unwrap_or_else(|_| Spanned::new(0..text.len(), DeValue::String(text.into())))
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}
