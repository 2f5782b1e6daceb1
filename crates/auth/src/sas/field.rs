//! The parameters of a SAS, read from the query once.
//!
//! Must never pick one of two: a parameter given twice, or in another case, refuses the request.

use crate::error::{AuthError, Failure};
use std::collections::BTreeMap;

macro_rules! fields {
    ($($field:ident $name:literal,)*) => {
        /// One parameter of a SAS, or of the URL it vouches for.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub(crate) enum Field { $($field,)* }

        impl Field {
            const ALL: &[Self] = &[$(Self::$field,)*];

            /// Its name in the query.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$field => $name,)* }
            }
        }
    };
}

fields! {
    Sv "sv", Sr "sr", Ss "ss", Srt "srt", Sp "sp", St "st", Se "se", Si "si", Sip "sip",
    Spr "spr", Ses "ses", Sdd "sdd", Rscc "rscc", Rscd "rscd", Rsce "rsce", Rscl "rscl",
    Rsct "rsct", Sig "sig", Skoid "skoid", Snapshot "snapshot", VersionId "versionid",
    Sktid "sktid", Skt "skt", Ske "ske", Sks "sks", Skv "skv", Saoid "saoid", Suoid "suoid",
    Scid "scid", Skdutid "skdutid", Sduoid "sduoid", Srh "srh", Srq "srq", Tn "tn", Spk "spk", Srk "srk", Epk "epk", Erk "erk",
}

/// Any of these makes a request a SAS request, so that a damaged token is never taken for no token.
const MARKS: [Field; 8] =
    [Field::Sig, Field::Se, Field::Sp, Field::Si, Field::Sr, Field::Ss, Field::Srt, Field::Tn];

/// The parameters of a token; empty ones count as absent, as they do in its signature.
#[derive(Clone)]
pub(crate) struct Token {
    values: BTreeMap<Field, String>,
}

impl Token {
    /// The token in a query; `None` if there is no trace of one.
    pub(crate) fn find(query: &[(String, String)]) -> Result<Option<Self>, AuthError> {
        let named: Vec<(Field, &(String, String))> = query
            .iter()
            .filter_map(|pair| {
                let field = Field::ALL.iter().find(|f| f.name().eq_ignore_ascii_case(&pair.0))?;
                Some((*field, pair))
            })
            .collect();
        if !named.iter().any(|(field, _)| MARKS.contains(field)) {
            return Ok(None);
        }
        let mut values = BTreeMap::new();
        for (field, (name, value)) in named {
            // Lines of a string-to-sign end at newlines, so a value with one could pass for two.
            if name != field.name() || value.chars().any(char::is_control) {
                return Err(Failure::FieldMalformed { name: field.name() }.into());
            }
            if values.insert(field, value.clone()).is_some() {
                return Err(Failure::FieldRepeated { name: field.name() }.into());
            }
        }
        values.retain(|_, value| !value.is_empty());
        Ok(Some(Self { values }))
    }

    /// The parameter's value, if given and not empty.
    pub(crate) fn get(&self, field: Field) -> Option<&str> {
        self.values.get(&field).map(String::as_str)
    }

    /// The value of the parameter of that name; empty if absent.
    pub(crate) fn named(&self, name: &str) -> &str {
        let value = self.values.iter().find(|(field, _)| field.name() == name);
        value.map_or("", |(_, value)| value)
    }

    /// The parameter's value, or the error that it is missing.
    pub(crate) fn require(&self, field: Field) -> Result<&str, AuthError> {
        self.get(field).ok_or(Failure::FieldMissing { name: field.name() }.into())
    }
}

/// The error that a parameter makes no sense.
pub(crate) fn malformed(field: Field) -> AuthError {
    Failure::FieldMalformed { name: field.name() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pairs: &[(&str, &str)]) -> Result<Option<Vec<&'static str>>, AuthError> {
        let query: Vec<_> = pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let token = Token::find(&query)?;
        Ok(token.map(|t| t.values.keys().map(|f| f.name()).collect()))
    }

    #[test]
    fn tokens_in_queries() {
        for (pairs, want) in [
            (&[("comp", "list"), ("prefix", "sig")][..], Ok(None)),
            (&[("snapshot", "x"), ("sv", "2020-02-10")], Ok(None)),
            (&[("sig", "x"), ("comp", "list")], Ok(Some(vec!["sig"]))),
            (&[("sr", "b"), ("sv", "x"), ("st", "")], Ok(Some(vec!["sv", "sr"]))),
            (&[("sig", "x"), ("sig", "x")], Err(Failure::FieldRepeated { name: "sig" }.into())),
            (&[("sig", "x"), ("SIG", "x")], Err(malformed(Field::Sig))),
            (&[("Sig", "x")], Err(malformed(Field::Sig))),
            (&[("sig", "x"), ("si", "a\nb")], Err(malformed(Field::Si))),
            (&[("sig", "x"), ("rscd", "a\r\nSet-Cookie: b")], Err(malformed(Field::Rscd))),
            (
                &[("sig", "x"), ("snapshot", ""), ("snapshot", "y")],
                Err(Failure::FieldRepeated { name: "snapshot" }.into()),
            ),
        ] {
            assert_eq!(find(pairs), want, "{pairs:?}");
        }
    }
}
