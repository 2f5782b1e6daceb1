//! Random requests: nothing panics, nothing unsigned gets in, everything signed gets in once only.

use crate::fixture::{EXPIRY, Op, Request, SNAPSHOT};
use proptest::prelude::*;
use proptest::sample::select;
use zaffre_auth::Action;
use zaffre_base::ApiVersion;

const VERSIONS: [&str; 10] = [
    "2012-02-12",
    "2013-08-15",
    "2014-02-14",
    "2015-02-21",
    "2015-04-05",
    "2018-03-28",
    "2018-11-09",
    "2020-10-02",
    "2020-12-06",
    "2026-10-06",
];

const NAMES: [&str; 24] = [
    "sv",
    "sr",
    "ss",
    "srt",
    "sp",
    "st",
    "se",
    "si",
    "sip",
    "spr",
    "ses",
    "sdd",
    "rscc",
    "rscd",
    "rsce",
    "rscl",
    "rsct",
    "sig",
    "skoid",
    "snapshot",
    "versionid",
    "comp",
    "SIG",
    "x",
];

fn value() -> impl Strategy<Value = String> {
    let known = select(vec![
        "",
        "b",
        "c",
        "bs",
        "bv",
        "d",
        "o",
        "r",
        "rw",
        "1",
        "0",
        EXPIRY,
        "2026-01-01",
        "2020-12-06",
        "10.0.0.1",
        "https",
        "AAAA",
        SNAPSHOT,
    ]);
    prop_oneof![known.prop_map(str::to_owned), any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn random_requests_are_refused_without_a_panic(
        query in prop::collection::vec((select(NAMES.to_vec()), value()), 0..12),
        headers in prop::collection::vec(
            (select(vec!["authorization", "x-ms-date", "date", "x-ms-version", "x-ms-meta-a", "range"]),
             any::<String>()),
            0..6,
        ),
        scheme in select(vec!["", "SharedKey devstoreaccount1:", "SharedKeyLite devstoreaccount1:"]),
        path in "/[a-z0-9%+/-]{0,20}",
        raw_query in any::<String>(),
        version in select(VERSIONS.to_vec()),
    ) {
        let mut request = Request::new("GET", "/cont/dir/x");
        request.raw_path = path;
        request.raw_query = raw_query;
        request.version = ApiVersion::parse(version).expect("a version");
        request.query = query.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
        for (name, value) in &headers {
            let start = if *name == "authorization" { scheme } else { "" };
            request = request.header(name, &format!("{start}{value}"));
        }
        if let Ok(claim) = request.authenticate() {
            prop_assert!(claim.is_anonymous());
            prop_assert!(request.admit(Op::on(&request, Action::GetBlob), None).is_err());
        }
    }

    #[test]
    fn shared_key_round_trips(
        meta in prop::collection::btree_map("[a-z][a-z0-9_-]{0,6}", "[ -~]{0,8}", 0..5),
        query in prop::collection::vec(("[a-c]{1,2}", any::<String>()), 0..5),
        version in select(VERSIONS.to_vec()),
        pick in any::<prop::sample::Index>(),
    ) {
        let mut request = Request::new("PUT", "/cont/dir/x").dated().header("Content-Length", "0");
        request.version = ApiVersion::parse(version).expect("a version");
        request.query = query;
        for (name, value) in &meta {
            request = request.header(&format!("x-ms-meta-{name}"), value);
        }
        let request = request.sign_shared_key();
        prop_assert!(request.authenticate().is_ok());
        let signed = request.headers.len() - 1;
        let mut changed = request.clone();
        let index = pick.index(signed);
        if changed.headers[index].0 != "x-ms-date" {
            changed.headers[index].1.push('~');
            prop_assert!(changed.authenticate().is_err());
        }
        let mut changed = request.clone();
        changed.query.push(("zz".to_owned(), String::new()));
        prop_assert!(changed.authenticate().is_err());
    }

    #[test]
    fn service_sas_round_trips(
        sv in select(VERSIONS.to_vec()),
        sr in select(vec!["b", "c"]),
        more in prop::collection::btree_map(
            select(vec!["rscc", "rscd", "rsce", "rscl", "rsct", "ses"]),
            "[ -~]{1,8}",
            0..4,
        ),
        limited in any::<bool>(),
        name in select(vec!["sp", "se", "st", "sr", "sv", "si", "sig", "rscc", "rsct", "sip", "spr"]),
        other in "[a-z0-9]{1,6}",
    ) {
        let mut parameters = vec![("sv", sv), ("sr", sr), ("sp", "rw"), ("se", EXPIRY)];
        if limited {
            parameters.extend([("sip", "10.0.0.0-10.0.0.9"), ("spr", "https")]);
        }
        parameters.extend(more.iter().map(|(n, v)| (*n, v.as_str())));
        let request = Request::new("GET", "/cont/dir/x").sign_service_sas(&parameters);
        let (_, overrides) = request
            .admit(Op::on(&request, Action::GetBlob), None)
            .map_err(|e| TestCaseError::fail(format!("{e:?}")))?;
        let signs_overrides = sv >= "2013-08-15";
        let expected = more.get("rsct").filter(|_| signs_overrides);
        prop_assert_eq!(overrides.content_type.as_ref(), expected);

        let mut changed = request.clone();
        changed.set(name, &other);
        let admitted = changed.admit(Op::on(&changed, Action::GetBlob), None);
        let unsigned = match name {
            "rscc" | "rsct" => !signs_overrides,
            "sip" | "spr" => sv < "2015-04-05",
            _ => false,
        };
        let same = changed.query.iter().all(|pair| request.query.contains(pair));
        prop_assert_eq!(admitted.is_ok(), unsigned || same, "{} {}", name, other);
    }
}
