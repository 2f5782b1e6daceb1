//! User delegation SAS: what it says about the key that signed it, and whom and what it demands.
//!
//! Must never act on what the layout of its version does not sign.

use super::field::{Field, Token, malformed};
use super::layout::Layout;
use super::limits::{Window, time};
use crate::accounts::Account;
use crate::bearer::Identity;
use crate::delegation::Named;
use crate::error::{AuthError, Failure};
use crate::request::RequestFacts;
use zaffre_base::{ApiVersion, Guid, Secret, Timestamp, limits};

/// What a token says about the key that signed it.
pub(crate) struct Delegation<'a> {
    named: Named<'a>,
    window: Window,
    /// The one user who may use the token, and their tenant.
    user: Option<(&'a str, &'a str)>,
}

impl<'a> Delegation<'a> {
    /// Reads a token that names its key.
    pub(crate) fn read(
        token: &'a Token,
        layout: Layout,
        facts: &RequestFacts<'_>,
    ) -> Result<Self, AuthError> {
        if token.get(Field::Si).is_some() {
            return Err(malformed(Field::Si));
        }
        check_agents(token, layout)?;
        ApiVersion::parse(token.require(Field::Skv)?).ok_or(malformed(Field::Skv))?;
        let service = token.require(Field::Sks)?;
        if !service.chars().eq([facts.service.letter()]) {
            return Err(malformed(Field::Sks));
        }
        let signed = |field| layout.signed(token, field);
        let named = Named {
            object: token.require(Field::Skoid)?,
            tenant: token.require(Field::Sktid)?,
            start: token.require(Field::Skt)?,
            expiry: token.require(Field::Ske)?,
            service,
            version: token.require(Field::Skv)?,
            delegated_tenant: signed(Field::Skdutid).unwrap_or_default(),
        };
        let tenant = signed(Field::Skdutid).unwrap_or(named.tenant);
        let user = signed(Field::Sduoid).map(|user| (user, tenant));
        // A key for users of another tenant is good for nothing without one.
        if user.is_none() && signed(Field::Skdutid).is_some() {
            return Err(Failure::FieldMissing { name: Field::Sduoid.name() }.into());
        }
        let expiry = time(token, Field::Ske)?.ok_or(malformed(Field::Ske))?;
        Ok(Self { named, window: Window { start: time(token, Field::Skt)?, expiry }, user })
    }

    /// The keys that may have signed it, one for each of the account's.
    pub(crate) fn keys(&self, account: &Account) -> Vec<Secret<Vec<u8>>> {
        self.named.keys(account).collect()
    }

    /// Whether the key is valid now, and who asks is who may.
    pub(crate) fn check(&self, bearer: Option<&Identity>, now: Timestamp) -> Result<(), AuthError> {
        let Window { start, expiry } = self.window;
        let start = start.unwrap_or(now);
        if now < start || now >= expiry {
            return Err(Failure::KeyOutsideWindow { start, expiry, now }.into());
        }
        match (self.user, bearer) {
            (None, _) => Ok(()),
            (Some((object, tenant)), Some(bearer))
                if bearer.object == object && bearer.tenant == tenant =>
            {
                Ok(())
            }
            (Some(_), _) => Err(Failure::DelegatedUser.into()),
        }
    }
}

/// `saoid`, `suoid` and `scid`: ids, of which the first two exclude each other. They matter to
/// accounts with a hierarchy of directories; here everybody trusted may do the same.
fn check_agents(token: &Token, layout: Layout) -> Result<(), AuthError> {
    for field in [Field::Saoid, Field::Suoid, Field::Scid, Field::Skdutid, Field::Sduoid] {
        // Where it is not signed, nobody may rely on it.
        if token.get(field).is_some() && !layout.covers(field) {
            return Err(malformed(field));
        }
    }
    let is_id = |field| token.get(field).is_none_or(|text| Guid::parse(text).is_some());
    if !is_id(Field::Scid) {
        return Err(Failure::CorrelationId.into());
    }
    for field in [Field::Saoid, Field::Suoid] {
        if !is_id(field) {
            return Err(malformed(field));
        }
    }
    if token.get(Field::Saoid).is_some() && token.get(Field::Suoid).is_some() {
        return Err(malformed(Field::Suoid));
    }
    Ok(())
}

/// Headers (`srh`) and parameters (`srq`) that the request must carry, with their values, as the
/// token signs them. The values are the request's own: with others the signature does not match.
#[derive(Default)]
pub(crate) struct Demands {
    pub(crate) headers: String,
    pub(crate) parameters: String,
}

impl Demands {
    /// Collects what the token lists.
    pub(crate) fn read(
        token: &Token,
        layout: Layout,
        facts: &RequestFacts<'_>,
    ) -> Result<Self, AuthError> {
        let mut demands = Self::default();
        for name in listed(token, layout, Field::Srh)? {
            let value = facts.header(name)?.ok_or(malformed(Field::Srh))?;
            push(&mut demands.headers, name, value.trim(), Field::Srh)?;
            demands.headers.push('\n');
        }
        for name in listed(token, layout, Field::Srq)? {
            let mut found = facts.query.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
            let (Some((_, value)), None) = (found.next(), found.next()) else {
                return Err(malformed(Field::Srq));
            };
            demands.parameters.push('\n');
            push(&mut demands.parameters, name, value, Field::Srq)?;
        }
        Ok(demands)
    }
}

fn listed(token: &Token, layout: Layout, field: Field) -> Result<Vec<&str>, AuthError> {
    let Some(names) = token.get(field) else { return Ok(Vec::new()) };
    let names: Vec<&str> = names.split(',').collect();
    if !layout.covers(field) || names.len() > limits::SIGNED_REQUEST_NAMES {
        return Err(malformed(field));
    }
    Ok(names)
}

/// A line that can be read in one way only.
fn push(lines: &mut String, name: &str, value: &str, field: Field) -> Result<(), AuthError> {
    if name.is_empty() || name.contains(':') || value.chars().any(char::is_control) {
        return Err(malformed(field));
    }
    for part in [name, ":", value] {
        lines.push_str(part);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_in_one_way_only() {
        for (name, value, good) in [
            ("x-ms-a", "1", true),
            ("x-ms-a", "", true),
            ("x-ms-a", "a:b c", true),
            ("", "1", false),
            ("x:y", "1", false),
            ("x-ms-a", "1\n2", false),
            ("x-ms-a", "\t", false),
        ] {
            let mut lines = String::new();
            assert_eq!(push(&mut lines, name, value, Field::Srh).is_ok(), good, "{name} {value}");
            assert_eq!(lines, if good { format!("{name}:{value}") } else { String::new() });
        }
    }
}
