//! What each version of a SAS signs, as data.
//!
//! Must never be bypassed: a parameter counts only if the layout of the token's `sv` has it.

use super::delegated::Demands;
use super::field::{Field, Token};
use crate::service::Service;
use zaffre_base::{AccountName, ApiVersion};

/// The lines of a string-to-sign, in order: parameters by name, and two that are no parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout(&'static str);

/// The line of the resource's canonical name.
const RESOURCE: &str = "<resource>";
/// The line of the snapshot or version the token is for.
const MOMENT: &str = "<moment>";
/// The headers and parameters the request must carry.
const HEADERS: &str = "<headers>";
const PARAMETERS: &str = "<parameters>";

/// Blob SAS, newest first. The oldest has no `sv`.
const BLOB: [(Option<ApiVersion>, Layout); 6] = [
    (
        Some(ApiVersion::new(2020, 12, 6)),
        Layout("sp st se <resource> si sip spr sv sr <moment> ses rscc rscd rsce rscl rsct"),
    ),
    (
        Some(ApiVersion::new(2018, 11, 9)),
        Layout("sp st se <resource> si sip spr sv sr <moment> rscc rscd rsce rscl rsct"),
    ),
    (
        Some(super::V2015_04_05),
        Layout("sp st se <resource> si sip spr sv rscc rscd rsce rscl rsct"),
    ),
    (
        Some(ApiVersion::new(2013, 8, 15)),
        Layout("sp st se <resource> si sv rscc rscd rsce rscl rsct"),
    ),
    (Some(ApiVersion::new(2012, 2, 12)), Layout("sp st se <resource> si sv")),
    (None, Layout("sp st se <resource> si")),
];

/// Queue SAS, newest first; there is none without `sv`.
const QUEUE: [(Option<ApiVersion>, Layout); 2] = [
    (Some(super::V2015_04_05), Layout("sp st se <resource> si sip spr sv")),
    (None, Layout("sp st se <resource> si sv")),
];

/// Table SAS, newest first; there is none without `sv`.
const TABLE: [(Option<ApiVersion>, Layout); 2] = [
    (Some(super::V2015_04_05), Layout("sp st se <resource> si sip spr sv spk srk epk erk")),
    (None, Layout("sp st se <resource> si sv spk srk epk erk")),
];

/// File SAS, newest first; there is none without `sv`.
const FILE: [(Option<ApiVersion>, Layout); 2] = [
    (
        Some(super::V2015_04_05),
        Layout("sp st se <resource> si sip spr sv rscc rscd rsce rscl rsct"),
    ),
    (None, Layout("sp st se <resource> si sv rscc rscd rsce rscl rsct")),
];

/// User delegation SAS of blobs, newest first.
const DELEGATED_BLOB: [(Option<ApiVersion>, Layout); 5] = [
    (
        Some(ApiVersion::new(2026, 4, 6)),
        Layout(
            "sp st se <resource> skoid sktid skt ske sks skv saoid suoid scid skdutid sduoid sip \
             spr sv sr <moment> ses <headers> <parameters> rscc rscd rsce rscl rsct",
        ),
    ),
    (
        Some(ApiVersion::new(2025, 7, 5)),
        Layout(
            "sp st se <resource> skoid sktid skt ske sks skv saoid suoid scid skdutid sduoid sip \
             spr sv sr <moment> ses rscc rscd rsce rscl rsct",
        ),
    ),
    (
        Some(ApiVersion::new(2020, 12, 6)),
        Layout(
            "sp st se <resource> skoid sktid skt ske sks skv saoid suoid scid sip spr sv sr \
             <moment> ses rscc rscd rsce rscl rsct",
        ),
    ),
    (
        Some(ApiVersion::new(2020, 2, 10)),
        Layout(
            "sp st se <resource> skoid sktid skt ske sks skv saoid suoid scid sip spr sv sr \
             <moment> rscc rscd rsce rscl rsct",
        ),
    ),
    (
        Some(ApiVersion::new(2018, 11, 9)),
        Layout(
            "sp st se <resource> skoid sktid skt ske sks skv sip spr sv sr <moment> rscc rscd \
             rsce rscl rsct",
        ),
    ),
];

/// User delegation SAS of queues.
const DELEGATED_QUEUE: [(Option<ApiVersion>, Layout); 1] = [(
    Some(ApiVersion::new(2025, 7, 5)),
    Layout("sp st se <resource> skoid sktid skt ske sks skv skdutid sduoid sip spr sv"),
)];

/// User delegation SAS of files.
const DELEGATED_FILE: [(Option<ApiVersion>, Layout); 1] = [(
    Some(ApiVersion::new(2025, 7, 5)),
    Layout(
        "sp st se <resource> skoid sktid skt ske sks skv skdutid sduoid sip spr sv rscc rscd rsce \
         rscl rsct",
    ),
)];

/// Account SAS, newest first; the account's name comes before.
const ACCOUNT: [(Option<ApiVersion>, Layout); 2] = [
    (Some(ApiVersion::new(2020, 12, 6)), Layout("sp ss srt st se sip spr sv ses")),
    (None, Layout("sp ss srt st se sip spr sv")),
];

/// From this version on, the resource starts with the service's name.
const SERVICE_IN_RESOURCE: ApiVersion = ApiVersion::new(2015, 2, 21);

impl Layout {
    /// The lines of a service SAS; `sv` is absent before 2012-02-12.
    pub(crate) fn service(service: Service, sv: Option<ApiVersion>) -> Self {
        match service {
            Service::Blob => Self::newest(&BLOB, sv),
            Service::Queue => Self::newest(&QUEUE, sv),
            Service::Table => Self::newest(&TABLE, sv),
            Service::File => Self::newest(&FILE, sv),
        }
    }

    /// The lines of a user delegation SAS; `None` where there is none.
    pub(crate) fn delegated(service: Service, sv: Option<ApiVersion>) -> Option<Self> {
        let layout = match service {
            Service::Blob => Self::newest(&DELEGATED_BLOB, sv),
            Service::Queue => Self::newest(&DELEGATED_QUEUE, sv),
            Service::File => Self::newest(&DELEGATED_FILE, sv),
            Service::Table => Self(""),
        };
        (!layout.0.is_empty()).then_some(layout)
    }

    /// The lines of an account SAS after the account's name.
    pub(crate) fn account(sv: ApiVersion) -> Self {
        Self::newest(&ACCOUNT, Some(sv))
    }

    fn newest(layouts: &[(Option<ApiVersion>, Self)], sv: Option<ApiVersion>) -> Self {
        let fitting = layouts.iter().find(|(since, _)| *since <= sv);
        fitting.map_or(Self(""), |(_, layout)| *layout)
    }

    /// The parameter's value if this layout signs it.
    pub(crate) fn signed(self, token: &Token, field: Field) -> Option<&str> {
        token.get(field).filter(|_| self.covers(field))
    }

    /// Whether this layout signs the parameter.
    pub(crate) fn covers(self, field: Field) -> bool {
        let name = match field {
            Field::Srh => HEADERS,
            Field::Srq => PARAMETERS,
            field => field.name(),
        };
        self.0.split(' ').any(|line| line == name)
    }

    /// The string-to-sign of a service SAS: lines with a newline between them.
    pub(crate) fn service_string(
        self,
        token: &Token,
        resource: &str,
        moment: &str,
        demands: &Demands,
    ) -> String {
        let value = |name| match name {
            RESOURCE => resource,
            MOMENT => moment,
            HEADERS => &demands.headers,
            PARAMETERS => &demands.parameters,
            name => token.named(name),
        };
        self.0.split(' ').map(value).collect::<Vec<_>>().join("\n")
    }

    /// The string-to-sign of an account SAS: a newline after every line.
    pub(crate) fn account_string(self, token: &Token, account: &AccountName) -> String {
        let mut text = format!("{account}\n");
        for name in self.0.split(' ') {
            text.push_str(token.named(name));
            text.push('\n');
        }
        text
    }
}

/// The canonical name of a container, directory, blob, queue or table.
pub(crate) fn resource(
    service: Service,
    sv: Option<ApiVersion>,
    account: &AccountName,
    container: &str,
    path: Option<&str>,
) -> String {
    let mut name = String::new();
    if sv >= Some(SERVICE_IN_RESOURCE) {
        name.push('/');
        name.push_str(service.name());
    }
    for part in ["/", account.as_str(), "/", container] {
        name.push_str(part);
    }
    if let Some(path) = path {
        name.push('/');
        name.push_str(path);
    }
    name
}
