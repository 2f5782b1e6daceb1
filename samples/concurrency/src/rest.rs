//! Requests as the REST documentation writes them, for tables and files: there is no current official
//! crate for these two. The SAS in the URL is all the authentication there is.

use crate::account::{Account, Failure};
use reqwest::{Method, Response};

/// One request; `headers` are in addition to the version.
pub async fn send(
    account: &Account,
    (service, method, path, query): (&str, Method, &str, &str),
    headers: &[(&str, &str)],
    body: Vec<u8>,
) -> Result<Response, Failure> {
    let mut url = account.url(service, path)?;
    if !query.is_empty() {
        let sas = url.query().unwrap_or_default().to_owned();
        url.set_query(Some(&format!("{query}&{sas}")));
    }
    let version = if service == "Table" { "2019-02-02" } else { "2022-11-02" };
    let mut request = reqwest::Client::new().request(method, url).header("x-ms-version", version);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Ok(request.body(body).send().await?)
}

/// The answer, if it is a good one.
pub async fn good(answer: Response) -> Result<Response, Failure> {
    if answer.status().is_success() {
        return Ok(answer);
    }
    Err(format!("{}: {}", answer.status(), answer.text().await?).into())
}

/// Says how something was refused that must be refused.
pub async fn refused(status: u16, code: &str, answer: Response) -> Result<(), Failure> {
    let got = answer.status().as_u16();
    let named = answer.headers().get("x-ms-error-code").is_some_and(|said| said == code);
    let text = answer.text().await?;
    if got != status || !(named || text.contains(code)) {
        return Err(format!("{status} {code} was expected, not {got}: {text}").into());
    }
    println!("   refused: {status} {code}");
    Ok(())
}
