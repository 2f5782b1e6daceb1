//! Service properties and logs: set in parts, read by everybody at once, written and removed.

mod support;

use support::{ACCOUNT, World, list, must, worlds};
use zaffre_auth::Service;
use zaffre_base::{AccountName, Timestamp};
use zaffre_core::service_properties::{SetServiceProperties, set_service_properties};
use zaffre_domain::service::log::{Authentication, Effect, LogEntry};
use zaffre_domain::service::{Logging, Retention, ServicePropertiesUpdate};

fn account() -> AccountName {
    must(AccountName::parse(ACCOUNT))
}

async fn set(world: &World, update: ServicePropertiesUpdate) {
    let op = SetServiceProperties { account: account(), service: Service::Blob, update };
    must(set_service_properties(&world.core, world.ok(op)).await);
}

fn logging(days: Option<u16>) -> Logging {
    let retention = days.and_then(Retention::days).unwrap_or(Retention::NONE);
    Logging { read: true, delete: true, retention, ..Logging::default() }
}

fn entry(started: Timestamp, effect: Effect, status: u16) -> LogEntry {
    LogEntry {
        started,
        operation: "GetBlob",
        effect,
        status,
        milliseconds: 1,
        authentication: Authentication::Key,
        account: ACCOUNT.to_owned(),
        service: "blob",
        url: "http://h/p".to_owned(),
        object: "/a/c/b".to_owned(),
        request_id: "id".to_owned(),
        peer: "1.2.3.4:5".to_owned(),
        version: String::new(),
        sizes: [0; 4],
        content_length: None,
        request_md5: None,
        server_md5: None,
        etag: None,
        last_modified: None,
        conditions: None,
        user_agent: None,
        referrer: None,
        client_request_id: None,
    }
}

#[tokio::test]
async fn lines_become_blobs_and_go_by_their_age() {
    for world in worlds() {
        let wanted = logging(Some(7));
        let update =
            ServicePropertiesUpdate { logging: Some(wanted.clone()), ..Default::default() };
        set(&world, update).await;
        let now = world.core.store().clock.now();
        let old = Timestamp::from_unix_seconds(now.unix_seconds() - 8 * 24 * 3600);
        let log = |at, effect| {
            world.core.log_request(&account(), Service::Blob, &wanted, &entry(at, effect, 200));
        };
        log(now, Effect::Read);
        log(now, Effect::Write);
        log(now, Effect::Delete);
        world.core.flush_logs().await;
        log(now, Effect::Read);
        log(old, Effect::Read);
        world.core.flush_logs().await;
        let names = world.names(list("$logs")).await;
        assert_eq!(names.len(), 3, "{names:?}");
        let today: Vec<&String> = names.iter().skip(1).collect();
        assert!(today[0].ends_with("/000000.log") && today[1].ends_with("/000001.log"));
        let text = String::from_utf8(must(world.get(&format!("$logs/{}", today[0])).await));
        assert_eq!(text.map(|text| text.lines().count()).ok(), Some(2), "writes are not wanted");
        let seen = must(world.properties(&format!("$logs/{}", today[0])).await);
        let kinds = seen.metadata.get("LogType").map(String::as_str);
        assert_eq!(kinds, Some("read,delete"));
        assert_eq!(must(world.core.remove_old_logs().await), 1);
        assert_eq!(world.names(list("$logs")).await.len(), 2);
    }
}

#[tokio::test]
async fn nothing_is_removed_without_a_policy() {
    for world in worlds() {
        let wanted = logging(None);
        let update =
            ServicePropertiesUpdate { logging: Some(wanted.clone()), ..Default::default() };
        set(&world, update).await;
        let old = entry(Timestamp::from_unix_seconds(1_500_000_000), Effect::Read, 200);
        world.core.log_request(&account(), Service::Blob, &wanted, &old);
        world.core.flush_logs().await;
        assert_eq!(must(world.core.remove_old_logs().await), 0);
        assert_eq!(world.names(list("$logs")).await.len(), 1);
    }
}

#[tokio::test]
async fn whoever_sets_is_seen_at_once() {
    for world in worlds() {
        let read = || async {
            let found = world.core.service_properties(&account(), Service::Blob).await;
            must(found).logging.read
        };
        assert!(!read().await);
        set(&world, ServicePropertiesUpdate { logging: Some(logging(None)), ..Default::default() })
            .await;
        assert!(read().await);
        set(&world, ServicePropertiesUpdate::default()).await;
        assert!(read().await, "what is not named stays");
        let other = world.core.service_properties(&account(), Service::Queue).await;
        assert!(!must(other).logging.read, "each service has its own");
    }
}
