//! Requests and operations for the tests, built as a protocol would build them.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use zaffre_auth::{
    Account, Accounts, Action, AuthError, Authorized, Claim, ContainerAccess, Extras, Guarded,
    RequestFacts, ResponseOverrides, Scope, Service, TokenTrust, authenticate, authorize, sign,
};
use zaffre_base::{AccountName, ApiVersion, Secret, Timestamp};

pub(crate) const ACCOUNT: &str = "devstoreaccount1";
pub(crate) const SNAPSHOT: &str = "2026-01-01T00:00:00.0000000Z";
pub(crate) const DATE: &str = "Sun, 15 Nov 2026 12:00:00 GMT";
pub(crate) const EXPIRY: &str = "2030-01-01T00:00:00Z";

/// Noon of 2026-11-15, by both clocks.
pub(crate) fn now() -> Timestamp {
    Timestamp::parse_http(DATE).expect("a date")
}

pub(crate) fn accounts() -> Accounts {
    Accounts::development()
}

pub(crate) fn account() -> Account {
    accounts().iter().next().expect("one account").clone()
}

pub(crate) fn key() -> Secret<Vec<u8>> {
    sign::primary_key(&account()).expect("a key").clone()
}

#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) service: Service,
    pub(crate) method: String,
    pub(crate) raw_path: String,
    pub(crate) raw_query: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) account: AccountName,
    pub(crate) container: Option<String>,
    pub(crate) object: Option<String>,
    pub(crate) path_style: bool,
    pub(crate) secondary: bool,
    pub(crate) peer: IpAddr,
    pub(crate) secure: bool,
    pub(crate) version: ApiVersion,
}

impl Request {
    /// A request by its target; path style if the path starts with the account.
    pub(crate) fn new(method: &str, target: &str) -> Self {
        let (path, raw_query) = target.split_once('?').unwrap_or((target, ""));
        let path_style = path.starts_with(&format!("/{ACCOUNT}"));
        let secondary = path.starts_with(&format!("/{ACCOUNT}-secondary"));
        let mut names = path.trim_start_matches('/').splitn(if path_style { 3 } else { 2 }, '/');
        if path_style {
            names.next();
        }
        let container = names.next().filter(|n| !n.is_empty());
        let object = names.next().filter(|n| !n.is_empty());
        Self {
            service: Service::Blob,
            method: method.to_owned(),
            raw_path: path.to_owned(),
            raw_query: raw_query.to_owned(),
            query: parse_query(raw_query),
            headers: Vec::new(),
            account: AccountName::parse(ACCOUNT).expect("a name"),
            container: container.map(decode),
            object: object.map(decode),
            path_style,
            secondary,
            peer: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)),
            secure: true,
            version: ApiVersion::LATEST,
        }
    }

    /// The same for another service, whose URLs name no object that a credential knows.
    pub(crate) fn of(self, service: Service) -> Self {
        let object = self.object.filter(|_| service == Service::Blob);
        Self { service, object, ..self }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn dated(self) -> Self {
        self.header("x-ms-date", DATE).header("x-ms-version", "2026-10-06")
    }

    pub(crate) fn with_query(mut self, query: Vec<(String, String)>) -> Self {
        self.query = query;
        self
    }

    pub(crate) fn with_facts<T>(&self, use_facts: impl FnOnce(&RequestFacts<'_>) -> T) -> T {
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        use_facts(&RequestFacts {
            service: self.service,
            method: &self.method,
            raw_path: &self.raw_path,
            raw_query: &self.raw_query,
            query: &self.query,
            headers: &headers,
            account: &self.account,
            container: self.container.as_deref(),
            object: self.object.as_deref(),
            path_style: self.path_style,
            secondary: self.secondary,
            peer: self.peer,
            secure: self.secure,
            version: self.version,
        })
    }

    pub(crate) fn sign_shared_key(self) -> Self {
        let authorization = self.with_facts(|f| sign::shared_key(f, &key())).expect("signable");
        self.header("Authorization", &authorization)
    }

    pub(crate) fn sign_account_sas(self, parameters: &[(&str, &str)]) -> Self {
        let token = sign::account_sas(&self.account, &key(), parameters).expect("signable");
        let query = self.query.iter().cloned().chain(token).collect();
        self.with_query(query)
    }

    pub(crate) fn sign_service_sas(self, parameters: &[(&str, &str)]) -> Self {
        let token =
            self.with_facts(|f| sign::service_sas(f, &key(), parameters)).expect("signable");
        let query = self.query.iter().cloned().chain(token).collect();
        self.with_query(query)
    }

    pub(crate) fn authenticate(&self) -> Result<Claim, AuthError> {
        self.authenticate_at(now())
    }

    /// Who a server that trusts these tokens says it is.
    pub(crate) fn authenticate_trusting(&self, trust: &TokenTrust) -> Result<Claim, AuthError> {
        let accounts = accounts().trusting(Some(Arc::new(trust.clone())));
        self.with_facts(|f| authenticate(f, &accounts, now(), now()))
    }

    pub(crate) fn authenticate_at(&self, at: Timestamp) -> Result<Claim, AuthError> {
        self.with_facts(|f| authenticate(f, &accounts(), at, at))
    }

    /// Both steps.
    pub(crate) fn admit(&self, op: Op, acl: Option<&ContainerAccess>) -> Admission {
        let claim = self.authenticate()?;
        self.with_facts(|f| authorize(&claim, op, acl, f, now()))
    }

    /// Sets a query parameter, adding it if absent.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.query.retain(|(n, _)| n != name);
        self.query.push((name.to_owned(), value.to_owned()));
    }
}

pub(crate) type Admission = Result<(Authorized<Op>, ResponseOverrides), AuthError>;

/// An operation as the permission table sees it.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) action: Action,
    pub(crate) account: AccountName,
    pub(crate) container: Option<String>,
    pub(crate) object: Option<String>,
    pub(crate) snapshot: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) entity: Option<(String, String)>,
    pub(crate) extras: Extras,
}

impl Op {
    /// The action on what the request's URL names.
    pub(crate) fn on(request: &Request, action: Action) -> Self {
        let parameter =
            |name: &str| request.query.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
        Self {
            action,
            account: request.account.clone(),
            container: request.container.clone(),
            object: request.object.clone(),
            snapshot: parameter("snapshot"),
            version: parameter("versionid"),
            entity: None,
            extras: Extras::default(),
        }
    }
}

impl Guarded for Op {
    fn action(&self) -> Action {
        self.action
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            account: &self.account,
            container: self.container.as_deref(),
            object: self.object.as_deref(),
            snapshot: self.snapshot.as_deref(),
            version: self.version.as_deref(),
            entity: self.entity.as_ref().map(|(p, r)| (p.as_str(), r.as_str())),
        }
    }

    fn extras(&self) -> Extras {
        self.extras
    }
}

pub(crate) fn parse_query(raw: &str) -> Vec<(String, String)> {
    raw.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decode(name), decode(&value.replace('+', " "))))
        .collect()
}

pub(crate) fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits: String = rest.by_ref().take(2).map(char::from).collect();
            bytes.push(u8::from_str_radix(&digits, 16).expect("two hex digits"));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// The blocks of a data file: a title and the lines below it.
pub(crate) fn blocks(file: &'static str) -> Vec<(&'static str, Vec<&'static str>)> {
    file.split("\n\n")
        .filter_map(|block| {
            let mut lines = block.lines().filter(|l| !l.starts_with(';') && !l.is_empty());
            let title = lines.next()?.strip_prefix("# ")?;
            Some((title, lines.collect()))
        })
        .collect()
}
