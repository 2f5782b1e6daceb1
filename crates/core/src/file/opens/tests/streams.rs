//! Streams beside the file that they are streams of.

use super::*;

/// An open of stream 8 of file 7 that shares `share`.
fn stream(rig: &Rig, access: &str, share: Classes) -> OpenRequest {
    let request = rig.request(access);
    let mode = OpenMode { share, ..request.mode };
    OpenRequest { file: file(8), base: Some(file(7)), mode, ..request }
}

const NO_DELETE: Classes = Classes { delete: false, ..Classes::ALL };

#[test]
fn a_stream_stands_against_the_deletion_of_its_file_as_it_shares() {
    let rig = Rig::new();
    for (share, base, overwrites, want) in [
        (Classes::NONE, "RW", false, "ok"),
        (Classes::NONE, "D", false, "SharingViolation"),
        (NO_DELETE, "D", false, "SharingViolation"),
        (NO_DELETE, "W", true, "SharingViolation"),
        (Classes::ALL, "D", false, "ok"),
        (Classes::ALL, "W", true, "ok"),
    ] {
        let open = rig.open(&stream(&rig, "RW", share)).handle;
        let mut request = rig.request(base);
        request.overwrites = overwrites;
        let tried = rig.attempt(&request);
        assert_eq!(outcome(&tried), want, "{share:?} {base} {overwrites}");
        if let Ok(Attempt::Done(opened)) = tried {
            rig.opens.close(opened.handle).expect("open");
        }
        rig.opens.close(open).expect("open");
        assert!(rig.opens.state().nodes.is_empty() && rig.opens.state().streams.is_empty());
    }
}

#[test]
fn a_marked_file_goes_with_its_last_stream() {
    let rig = Rig::new();
    let open = rig.open(&stream(&rig, "RW", Classes::ALL)).handle;
    let mut on_close = rig.request("D");
    on_close.delete_on_close = true;
    let deleting = rig.open(&on_close).handle;
    assert!(rig.opens.close(deleting).expect("open").removal.is_none());
    assert!(rig.opens.is_delete_pending(file(7)));
    assert_eq!(outcome(&rig.attempt(&rig.request("R"))), "DeletePending");
    assert_eq!(outcome(&rig.attempt(&stream(&rig, "R", Classes::ALL))), "DeletePending");
    let closed = rig.opens.close(open).expect("open");
    assert_eq!(closed.removal.expect("the last").file(), file(7));
    assert!(rig.opens.state().nodes.is_empty() && rig.opens.state().streams.is_empty());
}

#[test]
fn a_stream_that_is_marked_goes_alone_and_both_go_as_one() {
    let rig = Rig::new();
    let mut alone = stream(&rig, "D", Classes::ALL);
    alone.delete_on_close = true;
    let base = rig.open(&rig.request("RD")).handle;
    let open = rig.open(&alone).handle;
    let closed = rig.opens.close(open).expect("open");
    assert_eq!(closed.removal.expect("the stream").file(), file(8));
    let open = rig.open(&alone).handle;
    rig.opens.set_delete(base, true).expect("open");
    assert!(rig.opens.close(base).expect("open").removal.is_none());
    let closed = rig.opens.close(open).expect("open");
    assert_eq!(closed.removal.expect("the file").file(), file(7));
    assert!(rig.opens.state().nodes.is_empty() && rig.opens.state().streams.is_empty());
}

#[test]
fn rest_deletes_no_file_whose_stream_is_open() {
    let rig = Rig::new();
    let open = rig.open(&stream(&rig, "R", Classes::ALL)).handle;
    for (op, want) in [
        (RestOp::Delete, "SharingViolation"),
        (RestOp::Overwrite, "ok"),
        (RestOp::GetProperties, "ok"),
    ] {
        assert_eq!(outcome(&rig.enter(op)), want, "{op:?}");
    }
    rig.opens.close(open).expect("open");
    let deleting = rig.enter(RestOp::Delete);
    assert_eq!(outcome(&deleting), "ok");
    assert_eq!(outcome(&rig.attempt(&stream(&rig, "R", Classes::ALL))), "wait");
    drop(deleting);
    assert_eq!(outcome(&rig.attempt(&stream(&rig, "R", Classes::ALL))), "ok");
}
