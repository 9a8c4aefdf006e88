//! The folder of kept plans. Both files of an entry appear whole or not at all.

use super::{Entry, FORMAT, Why};
use groundhog_sim::laws::catalogue::LAWS;
use groundhog_sim::plan::{Plan, PlanError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where kept plans lie, seen from the root of the repository.
const FOLDER: &str = "scenarios/corpus";

/// Why the folder of kept plans cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file or the folder itself cannot be read or written.
    #[error("{path}: {source}", path = .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A kept plan is none.
    #[error("{path}: {source}", path = .path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// Why.
        source: PlanError,
    },
    /// What says why a plan was kept cannot be read.
    #[error("{path}: {what}", path = .path.display())]
    Why {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// There is why a plan was kept, and no plan.
    #[error(
        "{path} says why a plan was kept, and there is no such plan: put {} back, or remove {path}",
        .path.with_extension("json").display(), path = .path.display()
    )]
    NoPlan {
        /// The file that says why.
        path: PathBuf,
    },
    /// Something that says why no plan was kept stands where that is to be said.
    #[error("{path} is in the way: it says nothing of a kept plan; move it away, or name another with --name", path = .path.display())]
    InTheWay {
        /// The file.
        path: PathBuf,
    },
    /// The name is taken by another plan.
    #[error("{path} keeps another plan already; give this one another name with --name", path = .path.display())]
    Taken {
        /// The file.
        path: PathBuf,
    },
}

/// The folder that is meant where none is named: that of the repository, for whoever stands at its root.
pub fn default_folder() -> PathBuf {
    PathBuf::from(FOLDER)
}

/// The name of a plan that breaks `law`, unless its keeper gives another.
pub fn name_of(plan: &Plan, law: &str) -> String {
    let flaws: String = plan.flaws.iter().map(|flaw| format!("{flaw}-")).collect();
    format!("{flaws}{}-{}-{}", law.replace('/', "-"), plan.scenario, plan.seed)
}

/// Every kept plan, in order of name; none where the folder does not exist.
pub fn read(folder: &Path) -> Result<Vec<Entry>, CorpusError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| CorpusError::File { path, source }
    };
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let (mut names, mut whys) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            names.push(path);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            whys.push(path);
        }
    }
    names.sort();
    whys.sort();
    // A plan that vanished is no plan that holds.
    if let Some(path) = whys.into_iter().find(|why| !names.contains(&why.with_extension("json"))) {
        return Err(CorpusError::NoPlan { path });
    }
    names.iter().map(|path| read_entry(path)).collect()
}

fn read_entry(path: &Path) -> Result<Entry, CorpusError> {
    let why_path = path.with_extension("toml");
    let text = |path: &Path| {
        crate::target::read_text(path).map_err(|source| CorpusError::File { path: path.to_owned(), source })
    };
    let plan = Plan::from_json(&text(path)?)
        .map_err(|source| CorpusError::Plan { path: path.to_owned(), source })?;
    let wrong = |what: String| CorpusError::Why { path: why_path.clone(), what };
    let why: Why = toml::from_str(&text(&why_path)?).map_err(|error| wrong(error.to_string()))?;
    if why.format != FORMAT {
        return Err(wrong(format!("it has format {}, and this build reads format {FORMAT}", why.format)));
    }
    if LAWS.iter().all(|law| law.id != why.law) {
        return Err(wrong(format!("no law is called `{}`; `groundhog list laws` names them", why.law)));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Entry { name, plan, why })
}

/// Keeps a plan. Keeping the same plan again renews why it is kept.
pub fn keep(folder: &Path, name: &str, plan: &Plan, law: &str, reason: &str) -> Result<PathBuf, CorpusError> {
    let path = folder.join(format!("{name}.json"));
    if let Ok(text) = std::fs::read_to_string(&path)
        && Plan::from_json(&text).is_ok_and(|kept| kept != *plan)
    {
        return Err(CorpusError::Taken { path });
    }
    let why_path = path.with_extension("toml");
    if why_path.exists()
        && !std::fs::read_to_string(&why_path).is_ok_and(|text| toml::from_str::<Why>(&text).is_ok())
    {
        return Err(CorpusError::InTheWay { path: why_path });
    }
    let kept = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let why = Why { format: FORMAT, law: law.to_owned(), kept, reason: reason.to_owned() };
    let why = toml::to_string(&why)
        .map_err(|error| CorpusError::Why { path: path.clone(), what: error.to_string() })?;
    std::fs::create_dir_all(folder)
        .map_err(|source| CorpusError::File { path: folder.to_owned(), source })?;
    // Why first: a plan without it is an error, what says why without a plan is nothing.
    write_whole(folder, &path.with_extension("toml"), why.as_bytes())?;
    write_whole(folder, &path, plan.to_json().as_bytes())?;
    Ok(path)
}

fn write_whole(folder: &Path, path: &Path, bytes: &[u8]) -> Result<(), CorpusError> {
    let written = || {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    written().map_err(|source| CorpusError::File { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let target = crate::target::find("crash-mid-batch", &[]).expect("it is in the catalogue").remove(0);
        target.plan(7, &[])
    }

    #[test]
    fn a_kept_plan_is_read_back_with_why_it_was_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let (plan, law) = (plan(), "streams/at-most-once");
        let name = name_of(&plan, law);
        assert_eq!(name, "streams-at-most-once-crash-mid-batch-7");
        let path = keep(folder.path(), &name, &plan, law, "a \"quoted\" reason").expect("it is kept");
        let read = read(folder.path()).expect("the folder is whole");
        let [entry] = &read[..] else { panic!("{read:?}") };
        assert_eq!((&entry.name, &entry.plan), (&name, &plan));
        assert!(path.exists());
        assert_eq!((entry.why.law.as_str(), entry.why.reason.as_str()), (law, "a \"quoted\" reason"));
        assert_eq!(entry.why.kept.len(), "2026-11-30".len());
        keep(folder.path(), &name, &plan, law, "again").expect("the same plan may be kept again");
    }

    #[test]
    fn another_plan_does_not_take_the_place_of_a_kept_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut plan = plan();
        keep(folder.path(), "x", &plan, "streams/order", "once").expect("it is kept");
        plan.seed += 1;
        let refused = keep(folder.path(), "x", &plan, "streams/order", "another");
        assert!(matches!(refused, Err(CorpusError::Taken { .. })), "{refused:?}");
    }

    #[test]
    fn half_an_entry_and_an_unknown_law_are_errors_that_name_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(read(&folder.path().join("none")).expect("no folder is an empty one").is_empty());
        keep(folder.path(), "x", &plan(), "streams/no-such-law", "once").expect("it is kept");
        let error = read(folder.path()).expect_err("no law is called so").to_string();
        assert!(error.contains("x.toml") && error.contains("streams/no-such-law"), "{error}");
        std::fs::remove_file(folder.path().join("x.toml")).expect("it was there");
        let error = read(folder.path()).expect_err("nobody says why").to_string();
        assert!(error.contains("x.toml"), "{error}");
        keep(folder.path(), "x", &plan(), "streams/order", "once").expect("it is kept");
        std::fs::remove_file(folder.path().join("x.json")).expect("it was there");
        let error = read(folder.path()).expect_err("the plan is gone").to_string();
        assert!(error.contains("x.toml") && error.contains("put") && error.contains("x.json"), "{error}");
        std::fs::write(folder.path().join("x.toml"), "mine = 1").expect("a file");
        let error = keep(folder.path(), "x", &plan(), "streams/order", "once").expect_err("it is not ours");
        assert!(matches!(error, CorpusError::InTheWay { .. }), "{error}");
    }
}
