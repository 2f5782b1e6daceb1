//! Every operation with every kind of wrong or insufficient credential, over the wire.
//!
//! All of it is asked of containers that do not exist: whoever is let through is told so, and
//! nothing can change by mistake. Counts have a floor, so that the matrix cannot shrink unseen.

use crate::client::{Ask, Server};
use std::time::Duration;

/// Permission letters of a SAS.
const LETTERS: &str = "racwdxyltfmeopi";
/// Codes that mean: refused for who asks, not for what is asked.
const REFUSALS: &[&str] = &[
    "401 NoAuthenticationInformation",
    "401 InvalidAuthenticationInfo",
    "400 InvalidAuthenticationInfo",
    "403 AuthenticationFailed",
    "403 AuthorizationFailure",
    "403 AuthorizationPermissionMismatch",
    "403 AuthorizationProtocolMismatch",
    "403 AuthorizationResourceTypeMismatch",
    "403 AuthorizationServiceMismatch",
    "403 AuthorizationSourceIPMismatch",
];

/// Refused before anybody looks at who asks: two readers could disagree.
const SECOND_SIG: &str = "a SAS with a second sig";

/// An operation, and what tokens it takes: the level and letters of an account SAS, and the
/// letters of a service SAS. Empty letters: no token of that kind will do; `*`: any will.
struct Row {
    line: &'static str,
    headers: &'static [(&'static str, &'static str)],
    level: &'static str,
    account: &'static str,
    service: &'static str,
}

const fn row(
    line: &'static str,
    headers: &'static [(&'static str, &'static str)],
    (level, account, service): (&'static str, &'static str, &'static str),
) -> Row {
    Row { line, headers, level, account, service }
}

const LEASE: &[(&str, &str)] = &[("x-ms-lease-action", "acquire"), ("x-ms-lease-duration", "15")];
const BREAK: &[(&str, &str)] = &[("x-ms-lease-action", "break")];
const BLOCK_BLOB: &[(&str, &str)] = &[("x-ms-blob-type", "BlockBlob")];

/// The permission table of the service, written down once more.
const ROWS: &[Row] = &[
    row("GET /?comp=list", &[], ("s", "l", "")),
    row("GET /?restype=account&comp=properties", &[], ("sco", "*", "*")),
    row("GET /nope/b?restype=account&comp=properties", &[], ("sco", "*", "*")),
    row("PUT /nope-new?restype=container", &[("x-ms-meta-1", "x")], ("c", "cw", "")),
    row("GET /nope?restype=container", &[], ("c", "r", "")),
    row("HEAD /nope?restype=container&comp=metadata", &[], ("c", "r", "")),
    row("PUT /nope?restype=container&comp=metadata", &[], ("c", "w", "")),
    row("GET /nope?restype=container&comp=acl", &[], ("", "", "")),
    row("PUT /nope?restype=container&comp=acl", &[], ("", "", "")),
    row("DELETE /nope?restype=container", &[], ("c", "d", "")),
    row("PUT /nope?restype=container&comp=lease", LEASE, ("c", "w", "")),
    row("PUT /nope?restype=container&comp=lease", BREAK, ("c", "wd", "")),
    row("GET /nope?restype=container&comp=list", &[], ("c", "l", "l")),
    row("GET /nope/b", &[], ("o", "r", "r")),
    row("HEAD /nope/b", &[], ("o", "r", "r")),
    row("GET /nope/b?comp=metadata", &[], ("o", "r", "r")),
    row("GET /nope/b?comp=blocklist", &[], ("o", "r", "r")),
    row("GET /nope/b?comp=blocklist&blocklisttype=all", &[], ("o", "r", "r")),
    row("PUT /nope/b", BLOCK_BLOB, ("o", "cw", "cw")),
    row("PUT /nope/b?comp=block&blockid=YQ%3D%3D", &[], ("o", "w", "w")),
    row("PUT /nope/b?comp=blocklist", &[], ("o", "w", "w")),
    row("PUT /nope/b?comp=metadata", &[], ("o", "w", "w")),
    row("PUT /nope/b?comp=properties", &[], ("o", "w", "w")),
    row("DELETE /nope/b", &[], ("o", "d", "d")),
    row("PUT /nope/b?comp=lease", LEASE, ("o", "w", "w")),
    row("PUT /nope/b?comp=lease", BREAK, ("o", "wd", "wd")),
];

impl Row {
    fn ask<'a>(&self, server: &'a Server) -> Ask<'a> {
        let ask = self.headers.iter().fold(server.ask(self.line), |ask, (n, v)| ask.with(n, v));
        if self.line.contains("blocklist") { ask.body("<BlockList/>") } else { ask.body("x") }
    }
}

async fn is_refused(ask: Ask<'_>) -> (bool, String) {
    let outcome = ask.send().await.outcome();
    // A HEAD has no code in its body, but the header is there all the same.
    (REFUSALS.contains(&outcome.as_str()), outcome)
}

#[tokio::test]
async fn tokens_allow_what_the_table_says_and_nothing_else() {
    let server = Server::start().await;
    let mut cells = 0;
    for row in ROWS {
        for letter in LETTERS.chars() {
            let permission = letter.to_string();
            for level in ["s", "c", "o"] {
                let takes = row.account == "*" || row.account.contains(letter);
                let want = takes && row.level.contains(level);
                let ask = row.ask(&server).by_account_sas(level, &permission, "b");
                let (refused, outcome) = is_refused(ask).await;
                assert_eq!(!refused, want, "{} srt={level} sp={letter}: {outcome}", row.line);
                cells += 1;
            }
            let want = row.service == "*" || row.service.contains(letter);
            if row.line.contains("nope") {
                let ask = row.ask(&server).by_sas("c", &permission, &[]);
                let (refused, outcome) = is_refused(ask).await;
                assert_eq!(!refused, want, "{} sr=c sp={letter}: {outcome}", row.line);
                cells += 1;
            }
        }
    }
    assert!(cells >= 1500, "only {cells} cells");
}

#[tokio::test]
async fn every_attack_on_every_operation_is_refused() {
    let server = Server::start().await;
    let mut cells = 0;
    for row in ROWS {
        for (attack, ask) in attacks(row, &server) {
            let (refused, outcome) = is_refused(ask).await;
            let repeated = outcome == "400 InvalidQueryParameterValue" && attack == SECOND_SIG;
            assert!(refused || repeated, "{} with {attack}: {outcome}", row.line);
            cells += 1;
        }
    }
    assert!(cells >= 380, "only {cells} cells");
    // The owner is let in everywhere, so that the matrix cannot pass by refusing everybody.
    for row in ROWS {
        let (refused, outcome) = is_refused(row.ask(&server)).await;
        assert!(!refused, "{}: {outcome}", row.line);
    }
}

/// One request per attack that is wrong in exactly that way.
fn attacks<'a>(row: &Row, server: &'a Server) -> Vec<(&'static str, Ask<'a>)> {
    const ALL: &str = "racwdxyltfmeopi";
    let ask = || row.ask(server);
    let now = server.wall();
    let hour = Duration::from_hours(1);
    let past = zaffre_base::Timestamp(now.0 - 36_000_000_000).iso7().to_string();
    let future = now.plus(hour).iso7().to_string();
    let later = now.plus(2 * hour).iso7().to_string();
    let sas = |more: &[(&str, &str)]| ask().by_sas("c", ALL, more);
    let mut attacks = vec![
        ("no credential", ask().unsigned()),
        ("another key", ask().with_key("a2V5")),
        ("an old date", ask().dated(zaffre_base::Timestamp(now.0 - 12_000_000_000))),
        ("a date to come", ask().dated(now.plus(Duration::from_mins(20)))),
        (
            "another query",
            ask().tampered(|target| {
                target.push(if target.contains('?') { '&' } else { '?' });
                target.push_str("timeout=1");
            }),
        ),
        ("another scheme", ask().unsigned().with("Authorization", "Basic eDp5")),
        ("a bearer token", ask().unsigned().with("Authorization", "Bearer abc")),
        ("an empty signature", {
            ask()
                .unsigned()
                .with("Authorization", "SharedKey devstoreaccount1:")
                .with("x-ms-date", &now.rfc1123().to_string())
        }),
        ("an account SAS of another key", {
            ask().with_key("a2V5").by_account_sas("sco", ALL, "b")
        }),
        ("an account SAS for queues", ask().by_account_sas("sco", ALL, "q")),
        ("a bare sig", ask().unsigned().and_query("sig=AAAA")),
    ];
    if row.line.contains("nope") {
        attacks.extend([
            ("an expired SAS", sas(&[("se", &past)])),
            ("a SAS not valid yet", sas(&[("st", &future), ("se", &later)])),
            ("a SAS for https", sas(&[("spr", "https")])),
            ("a SAS for another address", sas(&[("sip", "10.1.2.3")])),
            ("a SAS of an unknown policy", ask().by_sas("c", "", &[("si", "nobody")])),
            (SECOND_SIG, sas(&[]).and_query("sig=AAAA")),
            (
                "a SAS of another container",
                sas(&[]).tampered(|target| {
                    *target = target.replacen("/nope", "/other-nope", 1);
                }),
            ),
        ]);
    }
    attacks
}
