//! Expressions over tags: what is found lies in the run of values that is sought.

use zaffre_domain::blob::tags::{FindExpression, FindScope, Predicate, Tags};

const VALUES: [&str; 6] = ["", "0", "1", "a", "b b", "z"];

/// The target.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let samples = VALUES.map(|value| {
        let names = ["a", "b", "state"];
        names.into_iter().map(|name| (name.to_owned(), value.to_owned())).collect::<Tags>()
    });
    if let Ok(predicate) = Predicate::parse(text) {
        let _ = samples.iter().filter(|tags| predicate.matches(tags)).count();
        assert!(!predicate.matches(&Tags::new()), "no tags fit no comparison");
    }
    for scope in [FindScope::Account, FindScope::Container] {
        let Ok(found) = FindExpression::parse(text, scope) else { continue };
        assert!(scope == FindScope::Account || found.container.is_none());
        let sought = found.sought();
        for tags in samples.iter().filter(|tags| found.matches(tags)) {
            let value = tags.get(sought.name).expect("a match has the tag that is sought");
            let above =
                |(from, itself): (&str, bool)| value.as_str() > from || itself && value == from;
            let below = |(to, itself): (&str, bool)| value.as_str() < to || itself && value == to;
            assert!(sought.from.is_none_or(above) && sought.to.is_none_or(below));
            assert!(found.shown(tags).contains_key(sought.name));
        }
    }
}
