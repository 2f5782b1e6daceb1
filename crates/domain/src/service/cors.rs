//! Cross-origin requests: which rules may be stored, and what a rule lets a web page do.
//!
//! Must never block a request: a browser keeps the answer from the page, the service only says who
//! may see it.

use super::fits;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use zaffre_base::limits::{
    CORS_BYTES, CORS_LITERAL_HEADERS, CORS_ORIGINS, CORS_PREFIXED_HEADERS, CORS_RULES,
    CORS_TEXT_CHARS,
};

/// What the pages of some origins may do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CorsRule {
    /// `*`, exact origins, or origins with `*.` for any subdomain.
    pub origins: Vec<String>,
    /// Verbs, in upper case.
    pub methods: Vec<String>,
    /// Request headers that may be sent: names, or prefixes that end with `*`.
    pub allowed_headers: Vec<String>,
    /// Response headers that may be seen: names, or prefixes that end with `*`.
    pub exposed_headers: Vec<String>,
    /// How long a browser may remember a preflight.
    pub max_age_seconds: u32,
}

/// What is wrong with a set of rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CorsFault {
    /// More than five rules.
    TooManyRules,
    /// All texts together are too long.
    TooLarge,
    /// No origin, too many, or one that is too long or empty.
    Origins,
    /// No verb, or one that is none.
    Methods,
    /// Too many headers, or one that is too long or empty.
    Headers,
}

impl CorsFault {
    /// In words, for whoever set the rules.
    pub fn reason(self) -> &'static str {
        match self {
            Self::TooManyRules => "The number of CORS rules must not exceed 5.",
            Self::TooLarge => "The size of all CORS rules must not exceed 2 KiB.",
            Self::Origins => {
                "AllowedOrigins must list 1 to 64 origins of at most 256 characters each."
            }
            Self::Methods => {
                "AllowedMethods must list DELETE, GET, HEAD, MERGE, PATCH, POST, OPTIONS or PUT."
            }
            Self::Headers => {
                "AllowedHeaders and ExposedHeaders may list 64 names and 2 prefixes of at most \
                 256 characters each."
            }
        }
    }
}

const METHODS: [&str; 8] = ["DELETE", "GET", "HEAD", "MERGE", "PATCH", "POST", "OPTIONS", "PUT"];
/// Stands for every origin, and at the end of a header for every header that starts so.
const ANY: &str = "*";
/// Stands for any subdomain.
const ANY_SUBDOMAIN: &str = "://*.";

/// What a page of the asking origin may know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Match<'a> {
    /// The rule that applies.
    pub rule: &'a CorsRule,
    /// The rule is for every origin, so that the answer does not depend on who asks.
    pub any_origin: bool,
}

/// Refuses rules that break a limit.
pub fn check(rules: &[CorsRule]) -> Result<(), CorsFault> {
    if rules.len() > CORS_RULES {
        return Err(CorsFault::TooManyRules);
    }
    rules.iter().try_for_each(check_rule)?;
    let size: usize = rules.iter().map(CorsRule::bytes).sum();
    if size > CORS_BYTES { Err(CorsFault::TooLarge) } else { Ok(()) }
}

fn check_rule(rule: &CorsRule) -> Result<(), CorsFault> {
    let texts_fit = |texts: &[String]| texts.iter().all(|text| fits(text, CORS_TEXT_CHARS));
    let CorsRule { origins, methods, allowed_headers, exposed_headers, .. } = rule;
    if origins.is_empty() || origins.len() > CORS_ORIGINS || !texts_fit(origins) {
        return Err(CorsFault::Origins);
    }
    let known = |method: &String| METHODS.contains(&method.as_str());
    if methods.is_empty() || methods.len() > METHODS.len() || !methods.iter().all(known) {
        return Err(CorsFault::Methods);
    }
    for headers in [allowed_headers, exposed_headers] {
        let prefixes = headers.iter().filter(|header| header.ends_with(ANY)).count();
        let names = headers.len() - prefixes;
        if prefixes > CORS_PREFIXED_HEADERS || names > CORS_LITERAL_HEADERS || !texts_fit(headers) {
            return Err(CorsFault::Headers);
        }
    }
    Ok(())
}

impl CorsRule {
    /// A rule for tests.
    pub fn sample(origin: &str, method: &str) -> Self {
        let (origins, methods) = ([origin.to_string()].into(), [method.to_string()].into());
        Self { origins, methods, ..Self::default() }
    }

    /// Its texts as a document has them, without tags.
    fn bytes(&self) -> usize {
        let lists = [&self.origins, &self.methods, &self.allowed_headers, &self.exposed_headers];
        let list = |texts: &Vec<String>| {
            let commas = texts.len().saturating_sub(1);
            texts.iter().map(String::len).sum::<usize>() + commas
        };
        lists.into_iter().map(list).sum::<usize>() + self.max_age_seconds.to_string().len()
    }

    fn for_any_origin(&self) -> bool {
        self.origins.iter().any(|origin| origin == ANY)
    }

    fn names_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| match allowed.split_once(ANY_SUBDOMAIN) {
            None => allowed == origin,
            Some((scheme, domain)) => origin.split_once("://").is_some_and(|(sent, host)| {
                let subdomain = host.strip_suffix(domain).and_then(|rest| rest.strip_suffix('.'));
                sent == scheme && subdomain.is_some_and(|name| !name.is_empty())
            }),
        })
    }

    /// Whether every one of these request headers may be sent.
    pub fn allows_headers<'a>(&self, mut headers: impl Iterator<Item = &'a str>) -> bool {
        headers.all(|header| covers(&self.allowed_headers, header))
    }

    /// The response headers a page may see: the names of the rule, and those of `sent` that start
    /// with one of its prefixes.
    pub fn exposed<'a>(&'a self, sent: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let names = self.exposed_headers.iter().map(String::as_str);
        let mut shown: Vec<&str> = names.filter(|name| !name.ends_with(ANY)).collect();
        for header in sent {
            let listed = shown.iter().any(|name| name.eq_ignore_ascii_case(header));
            if !listed && covers(&self.exposed_headers, header) {
                shown.push(header);
            }
        }
        shown
    }
}

fn covers(patterns: &[String], header: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix(ANY) {
        Some(prefix) => {
            header.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        }
        None => pattern.eq_ignore_ascii_case(header),
    })
}

/// The first rule for this origin and verb. Without an origin only rules for all of them count.
pub fn find<'a>(rules: &'a [CorsRule], origin: Option<&str>, method: &str) -> Option<Match<'a>> {
    let for_method = rules.iter().filter(|rule| rule.methods.iter().any(|m| m == method));
    for_method
        .map(|rule| Match { rule, any_origin: rule.for_any_origin() })
        .find(|found| found.any_origin || origin.is_some_and(|o| found.rule.names_origin(o)))
}

#[cfg(test)]
mod tests;
