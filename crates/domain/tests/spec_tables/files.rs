//! `spec/file_*.csv`, as far as the rules alone decide; the open table runs the rest.

use crate::table::{Row, run, same};
use zaffre_domain::fs::access::Classes;
use zaffre_domain::fs::locks::Range;
use zaffre_domain::fs::oplock::{Break, Caching, Cause, Manner, to_break};
use zaffre_domain::fs::rest::{HandleRule, LockRule, RestOp};
use zaffre_domain::fs::share_mode::{OpenMode, admits};

fn classes(text: &str) -> Classes {
    let has = |class| text.contains(class);
    match text {
        "none" | "attributes" => Classes::NONE,
        _ => Classes { read: has('R'), write: has('W'), delete: has('D') },
    }
}

fn caching(text: &str) -> Caching {
    match text {
        "none" => Caching::NONE,
        "R" => Caching::R,
        "RH" => Caching::RH,
        "RW" => Caching::RW,
        "RWH" => Caching::RWH,
        other => panic!("no caching {other}"),
    }
}

fn operation(name: &str) -> RestOp {
    let range = Range { offset: 100, len: 100 };
    match name {
        "List" => RestOp::List,
        "Get File" => RestOp::GetFile(range),
        "List Ranges" => RestOp::ListRanges(range),
        "Get File Properties" => RestOp::GetProperties,
        "Put Range" => RestOp::PutRange,
        "Set File Properties" => RestOp::SetProperties { size: None },
        "Set File Size" => RestOp::SetProperties { size: Some(50) },
        "Create File" => RestOp::Overwrite,
        "Delete File" => RestOp::Delete,
        "Lease File" => RestOp::AcquireLease,
        "Rename File" => RestOp::Rename,
        "Delete Directory" => RestOp::DeleteDirectory,
        "Rename Directory" => RestOp::RenameDirectory,
        other => panic!("no operation {other}"),
    }
}

fn broken(row: &Row, to: &str) -> Option<Break> {
    let to = row.optional(to)?;
    Some(Break { to: caching(to), wait: row.text("then") == "wait" })
}

#[test]
fn share_modes() {
    let csv = include_str!("../../../../spec/file_share_modes.csv");
    run("file_share_modes", csv, 512, |row| {
        let quiet = OpenMode { access: Classes::NONE, share: Classes::ALL };
        // Whatever the first open does, the second shares it: only what the first shares decides.
        let there = OpenMode { share: classes(row.text("share")), ..quiet };
        let wanted = OpenMode { access: classes(row.text("wants")), ..quiet };
        let mut cells = 0;
        for access in ["R", "W", "D", "RWD"] {
            let there = OpenMode { access: classes(access), ..there };
            let ok = row.text("outcome") == "ok";
            same("first", &admits(&[there], wanted).is_ok(), &ok)?;
            same("second", &admits(&[wanted], there).is_ok(), &ok)?;
            cells += 2;
        }
        Ok(cells)
    });
}

#[test]
fn what_rest_operations_are() {
    let csv = include_str!("../../../../spec/file_rest_access.csv");
    run("file_rest_access", csv, 65, |row| {
        let op = operation(row.text("operation"));
        same("access", &op.mode().access, &classes(row.text("access")))?;
        same("share", &op.mode().share, &classes(row.text("share")))?;
        let range = Range { offset: 100, len: 100 };
        let locks = match row.text("locks") {
            "-" => LockRule::Ignored,
            "reading" => LockRule::Reading(range),
            "any" => LockRule::From(0),
            "beyond" => LockRule::From(50),
            other => panic!("no rule {other}"),
        };
        same("locks", &op.locks(), &locks)?;
        let handles = match row.text("handles") {
            "-" => HandleRule::Ignored,
            "file" => HandleRule::None,
            "tree" => HandleRule::NoneBelow,
            other => panic!("no rule {other}"),
        };
        same("handles", &op.handles(), &handles)?;
        let cause = row.optional("cause").map(|cause| match cause {
            "read" => Cause::RestRead,
            "write" => Cause::RestWrite,
            "overwrite" => Cause::RestOverwrite,
            "delete" => Cause::RestDelete,
            "lease" => Cause::RestLease,
            other => panic!("no cause {other}"),
        });
        same("cause", &op.cause(), &cause).map(|()| 5)
    });
}

#[test]
fn what_rest_operations_break() {
    let csv = include_str!("../../../../spec/file_rest_breaks.csv");
    run("file_rest_breaks", csv, 27, |row| {
        let held = caching(row.text("held"));
        let cause = operation(row.text("operation")).cause();
        let got = cause.and_then(|cause| to_break(Manner::Lease, held, cause));
        same("break", &got, &broken(row, "to")).map(|()| 1)
    });
}

#[test]
fn what_smb_opens_break() {
    let csv = include_str!("../../../../spec/file_smb_breaks.csv");
    run("file_smb_breaks", csv, 50, |row| {
        let held = caching(row.text("held"));
        let cause = match row.text("cause") {
            "open" => Cause::Open,
            "overwrite" => Cause::OpenOverwrite,
            "sharing conflict" => Cause::SharingConflict,
            "change" => Cause::Change,
            "name change" => Cause::NameChange,
            other => panic!("no cause {other}"),
        };
        same("lease", &to_break(Manner::Lease, held, cause), &broken(row, "lease_to"))?;
        same("oplock", &to_break(Manner::Oplock, held, cause), &broken(row, "oplock_to"))?;
        Ok(2)
    });
}

/// Sharing alone; that no handle at all may remain is run on the open table.
#[test]
fn what_share_modes_refuse_to_rest() {
    let csv = include_str!("../../../../spec/file_rest_sharing.csv");
    run("file_rest_sharing", csv, 118, |row| {
        let op = operation(row.text("operation"));
        let there =
            OpenMode { access: classes(row.text("access")), share: classes(row.text("share")) };
        let refused = admits(&[there], op.mode()).is_err() || op.handles() != HandleRule::Ignored;
        same("refused", &refused, &(row.text("outcome") == "SharingViolation")).map(|()| 1)
    });
}
