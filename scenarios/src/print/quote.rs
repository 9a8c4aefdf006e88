//! Words as a shell reads them back.

/// `word`, quoted where a shell would not read it back as it is.
pub fn quote(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_every_word_back() {
        for word in [
            "",
            "plain",
            "links.channels=2",
            "a b",
            "it's",
            "$(x)",
            "{ min = 1, max = 2 }",
            "a\nb",
            "*",
            "\"",
            "\\",
        ] {
            let output = std::process::Command::new("sh")
                .args(["-c", &format!("printf %s {}", quote(word))])
                .output()
                .expect("there is a shell");
            assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
        assert_eq!(quote("links.channels=2"), "links.channels=2");
    }
}
