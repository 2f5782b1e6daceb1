//! The properties of the service over HTTP: what is set comes back, takes effect and stays.

use crate::client::Server;

const PROPERTIES: &str = "/?restype=service&comp=properties";

async fn set(server: &Server, inside: &str) -> String {
    let document = format!("<StorageServiceProperties>{inside}</StorageServiceProperties>");
    server.ask(&format!("PUT {PROPERTIES}")).body(document).send().await.outcome()
}

fn rule(origins: &str, methods: &str) -> String {
    format!(
        "<Cors><CorsRule><AllowedMethods>{methods}</AllowedMethods><AllowedOrigins>{origins}\
         </AllowedOrigins><AllowedHeaders>x-ms-*</AllowedHeaders><ExposedHeaders>x-ms-meta-a\
         </ExposedHeaders><MaxAgeInSeconds>7</MaxAgeInSeconds></CorsRule></Cors>"
    )
}

#[tokio::test]
async fn properties_are_set_in_parts() {
    let server = Server::start().await;
    let get = || async { server.ask(&format!("GET {PROPERTIES}")).send().await.text() };
    let website =
        "<StaticWebsite><Enabled>true</Enabled><IndexDocument>i</IndexDocument></StaticWebsite>";
    assert_eq!(set(&server, website).await, "202");
    assert_eq!(set(&server, &rule("*", "GET")).await, "202");
    let shown = get().await;
    assert!(shown.contains(website) && shown.contains("<AllowedOrigins>*<"), "{shown}");
    assert_eq!(set(&server, "<Cors/><Logging/>").await, "400 InvalidXmlDocument");
    assert_eq!(get().await, shown);
    assert_eq!(set(&server, "<Cors/>").await, "202");
    assert!(get().await.contains("<Cors />"));
    let web = server.ask("GET /$web?restype=container").send().await;
    assert_eq!(web.outcome(), "200");
}

#[tokio::test]
async fn a_default_version_answers_whoever_names_none() {
    let server = Server::start().await;
    let ask =
        || server.ask("GET /abc?restype=container&comp=list").unsigned().without("x-ms-version");
    assert_eq!(ask().send().await.header("x-ms-version"), "2009-09-19");
    let default = "<DefaultServiceVersion>2021-12-02</DefaultServiceVersion>";
    assert_eq!(set(&server, default).await, "202");
    let answer = ask().send().await;
    // From 2019-12-12 on, whoever has no credential is told so.
    assert_eq!(answer.outcome(), "401 NoAuthenticationInformation");
    server
        .ask("PUT /abc?restype=container")
        .with("x-ms-blob-public-access", "container")
        .send()
        .await;
    assert_eq!(ask().send().await.header("x-ms-version"), "2021-12-02");
}

#[tokio::test]
async fn rules_take_effect_at_once() {
    let server = Server::start().await;
    let preflight = |method: &'static str| {
        let ask = server.ask("OPTIONS /any//Path").unsigned().with("Origin", "http://a");
        ask.with("Access-Control-Request-Method", method)
    };
    assert_eq!(preflight("PUT").send().await.outcome(), "403 CorsPreflightFailure");
    assert_eq!(set(&server, &rule("http://a", "PUT,GET")).await, "202");
    let answer = preflight("PUT").send().await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, "http://a"));
    assert_eq!(answer.header("access-control-max-age"), "7");
    assert_eq!(preflight("DELETE").send().await.outcome(), "403 CorsPreflightFailure");
    let missing = server.ask("GET /abc/b").with("Origin", "http://a").send().await;
    assert_eq!(missing.outcome(), "404 ContainerNotFound");
    assert_eq!(missing.header("access-control-allow-origin"), "http://a");
    assert_eq!(missing.header("vary"), "Origin");
}

#[tokio::test]
async fn stats_come_from_the_secondary() {
    let server = Server::start().await;
    let stats = || server.ask("GET /?restype=service&comp=stats");
    assert_eq!(stats().send().await.outcome(), "400 InvalidQueryParameterValue");
    let answer = stats().of_account("devstoreaccount1-secondary").send().await;
    assert!(answer.text().contains("<Status>live</Status>"), "{}", answer.outcome());
    let put = server.ask(&format!("PUT {PROPERTIES}")).of_account("devstoreaccount1-secondary");
    assert_eq!(put.send().await.status, 403);
}
