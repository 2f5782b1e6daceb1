//! Both forms of descriptors against each other and against what is known to be right.

use super::*;
use crate::fs::FileRefusal;

#[test]
fn texts_round_trip_through_both_forms() {
    for text in [
        "O:BAG:SYD:(A;OICI;FA;;;BA)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)(A;OICI;0x1301bf;;;AU)",
        "O:SYG:SYD:PAI(D;NP;CCDCLC;;;WD)(A;ID;FR;;;S-1-5-21-1-2-3-500)",
        "O:S-1-5-21-2127521184-1604012920-1887927527-21560751G:S-1-5-21-1-2-3-513D:AI(A;;FA;;;SY)",
        "O:BAG:BAD:NO_ACCESS_CONTROL",
        "O:BAG:BAD:",
        "O:BAG:BAD:(A;;FA;;;SY)S:P(AU;SAFA;FA;;;WD)(ML;;NW;;;LW)",
        "D:AR(A;;;;;CO)",
        "",
    ] {
        let read = Descriptor::parse_sddl(text);
        let descriptor = read.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(descriptor.sddl(), text);
        let bytes = descriptor.to_bytes().unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(Descriptor::from_bytes(&bytes), Ok(descriptor), "{text}");
        for cut in 0..bytes.len() {
            let _ = Descriptor::from_bytes(&bytes[..cut]);
        }
    }
}

#[test]
fn texts_that_make_no_sense() {
    for text in [
        "x",
        "O:",
        "O:DAG:SYD:",
        "O:BAG:DUD:",
        "O:BAO:SY",
        "O:BAG:SYD:(A;;FA;;;LA)",
        "O:BAG:SYD:(A;;FA;;)",
        "O:BAG:SYD:(A;;FA;;;BA;)",
        "O:BAG:SYD:(A;;FA;x;;BA)",
        "O:BAG:SYD:(A;;FA;;x;BA)",
        "O:BAG:SYD:(A;OIC;FA;;;BA)",
        "O:BAG:SYD:(A;;FA;;;BA",
        "O:BAG:SYD:(OA;;FA;;;BA)",
        "O:BAG:SYD:(A;XX;FA;;;BA)",
        "O:BAG:SYD:(A;;ZZ;;;BA)",
        "O:BAG:SYD:(A;;0x1ffffffff;;;BA)",
        "O:BAG:SYD:Q(A;;FA;;;BA)",
        "O:BAG:SYD:NO_ACCESS_CONTROL(A;;FA;;;BA)",
        "O:S-1-5-99999999999",
        "O:S-1-",
        "O:S-1-5",
        "O:S-2-5-1",
        "O:éé",
    ] {
        let read = Descriptor::parse_sddl(text);
        assert_eq!(read, Err(FileRefusal::InvalidPermission), "{text}");
    }
}

#[test]
fn identifiers_as_texts() {
    let of = |parts: usize| alloc::format!("S-1-5{}", "-1".repeat(parts));
    for (text, good) in [
        ("S-1-281474976710655-1", true),
        ("S-1-281474976710656-1", false),
        ("S-1-5-4294967295", true),
        ("S-1-5-4294967296", false),
        ("S-1-0x5-0x10", true),
        ("S-1-0x-1", false),
        ("s-1-5-18", true),
        (&of(15), true),
        (&of(16), false),
        (&of(0), false),
    ] {
        assert_eq!(Sid::parse(text).is_ok(), good, "{text}");
    }
}

#[test]
fn known_bytes() {
    let descriptor = Descriptor::parse_sddl("O:BAG:SYD:(A;;FA;;;SY)").unwrap_or_default();
    let want: &[u8] = &[
        1, 0, 4, 0x80, 48, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, // header
        2, 0, 28, 0, 1, 0, 0, 0, 0, 0, 20, 0, 0xFF, 1, 0x1F, 0, 1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0,
        0, 1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 32, 2, 0, 0, // owner
        1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0, // group
    ];
    assert_eq!(descriptor.to_bytes().as_deref(), Ok(want));
}

#[test]
fn bytes_that_make_no_sense() {
    let good = default_root().to_bytes().unwrap_or_default();
    for (at, byte) in [(0, 2), (4, 0xFF), (16, 0xFF), (20, 9), (22, 0xFF), (24, 0xFF), (28, 9)] {
        let mut bytes = good.clone();
        bytes[at] = byte;
        assert!(Descriptor::from_bytes(&bytes).is_err(), "{at}");
    }
    assert!(Descriptor::from_bytes(&[]).is_err());
}

#[test]
fn sizes_inside_a_descriptor() {
    let sid = |parts: u32| Sid { authority: 5, parts: (0..parts).collect() };
    for (parts, good) in [(0, true), (15, true), (16, false), (17, false)] {
        let descriptor = Descriptor { owner: Some(sid(parts)), ..Descriptor::default() };
        assert_eq!(descriptor.to_bytes().is_ok(), good, "{parts} parts");
        let mut bytes = Vec::from([1, 0, 0, 0x80, 20, 0, 0, 0]);
        bytes.extend([0; 12]);
        bytes.extend([1, u8::try_from(parts).unwrap_or(u8::MAX), 0, 0, 0, 0, 0, 5]);
        bytes.extend((0..parts).flat_map(u32::to_le_bytes));
        let read = Descriptor::from_bytes(&bytes);
        assert_eq!(read, if good { Ok(descriptor) } else { Err(FileRefusal::InvalidPermission) });
    }
    let entry = |parts| Ace { kind: AceKind::Allow, flags: 0, mask: 1, sid: sid(parts) };
    for (more, good) in [(0, true), (1, false)] {
        // Headers of 20 and 8 bytes, 3,249 entries of 20 and one of 16: 65,024 in all.
        let mut entries = alloc::vec![entry(1); 3_249 + more];
        entries.push(entry(0));
        let descriptor = Descriptor { dacl: Some(Acl::Entries(entries)), ..Descriptor::default() };
        let bytes = descriptor.to_bytes();
        assert_eq!(bytes.as_ref().map(Vec::len).ok(), good.then_some(65_024));
        if let Ok(mut bytes) = bytes {
            assert_eq!(Descriptor::from_bytes(&bytes), Ok(descriptor));
            bytes.push(0);
            assert!(Descriptor::from_bytes(&bytes).is_err(), "one byte more");
        }
    }
    // An entry of 20 bytes in a list of 28, behind a header of 20; `more` bytes follow.
    let list = |entry: u8, size: u8, more: usize| {
        let mut bytes = Vec::from([1, 0, 4, 0x80]);
        bytes.extend([0; 12]);
        bytes.extend([20, 0, 0, 0, 2, 0, size, 0, 1, 0, 0, 0]);
        bytes.extend([0, 0, entry, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0]);
        bytes.resize(bytes.len() + more, 0);
        Descriptor::from_bytes(&bytes).is_ok()
    };
    for (entry, size, more, good) in [
        (20, 28, 0, true),
        (20, 28, 9, true),
        (24, 32, 4, true),
        (19, 28, 0, false),
        (20, 27, 0, false),
        (20, 29, 0, false),
        (20, 29, 1, true),
    ] {
        assert_eq!(list(entry, size, more), good, "{entry} {size} {more}");
    }
    for (authority, good) in [(0xFFFF_FFFF_FFFF, true), (0x1_0000_0000_0000, false)] {
        let owner = Some(Sid { authority, parts: Vec::new() });
        let bytes = Descriptor { owner: owner.clone(), ..Descriptor::default() }.to_bytes();
        assert_eq!(bytes.is_ok(), good, "{authority:x}");
        if let Ok(bytes) = bytes {
            assert_eq!(Descriptor::from_bytes(&bytes).map(|read| read.owner), Ok(owner));
        }
    }
}

#[test]
fn what_is_inherited() {
    let root = default_root();
    let file = "O:BAG:SYD:AI(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)(A;ID;0x1301bf;;;AU)(A;ID;FA;;;SY)\
                (A;ID;FA;;;BA)";
    let directory = "O:BAG:SYD:AI(A;OICIID;FA;;;BA)(A;ID;0x1200a9;;;BU)(A;OICIIOID;GXGR;;;BU)\
                     (A;OICIID;0x1301bf;;;AU)(A;OICIID;FA;;;SY)(A;ID;FA;;;BA)(A;OICIIOID;FA;;;CO)";
    assert_eq!(inherited(&root, false).sddl(), file);
    assert_eq!(inherited(&root, true).sddl(), directory);
    let parent = |text: &str| Descriptor::parse_sddl(text).unwrap_or_default();
    for (text, for_file, for_directory) in [
        ("D:AI(A;OI;FA;;;BU)", "D:AI(A;ID;FA;;;BU)", "D:AI(A;OIIOID;FA;;;BU)"),
        ("D:AI(A;OISAFA;FA;;;BU)", "D:AI(A;IDSAFA;FA;;;BU)", "D:AI(A;OIIOIDSAFA;FA;;;BU)"),
        ("D:AI(A;CISA;GR;;;CO)", "(A;;FA;;;SY)", "(A;IDSA;FR;;;BA)(A;CIIOIDSA;GR;;;CO)"),
        ("D:AI(A;CIFA;FR;;;CG)", "(A;;FA;;;SY)", "(A;IDFA;FR;;;SY)(A;CIIOIDFA;FR;;;CG)"),
        ("D:AI(A;CINP;FA;;;BU)", "(A;;FA;;;BA)(A;;FA;;;SY)", "(A;ID;FA;;;BU)"),
        ("D:(A;OI;FA;;;BU)", "D:(A;;FA;;;BU)", "D:(A;OIIO;FA;;;BU)"),
        ("D:(A;;FA;;;BU)", "(A;;FA;;;BA)(A;;FA;;;SY)", "(A;;FA;;;BA)(A;;FA;;;SY)"),
    ] {
        for (is_directory, want) in [(false, for_file), (true, for_directory)] {
            let got = inherited(&parent(text), is_directory).sddl();
            assert!(got.ends_with(want), "{text} {is_directory}: {got}");
        }
    }
}

#[test]
fn what_is_merged() {
    let root = Descriptor::parse_sddl("O:BAG:SYD:(A;OICI;FA;;;AU)").unwrap_or_default();
    for (given, want) in [
        ("O:BAG:SYD:(A;;FR;;;BU)", "O:BAG:SYD:AI(A;;FR;;;BU)(A;ID;FA;;;AU)"),
        ("O:BAG:SYD:AI(A;;FR;;;BU)", "O:BAG:SYD:AI(A;;FR;;;BU)(A;ID;FA;;;AU)"),
        ("O:BAG:SYD:P(A;;FR;;;BU)", "O:BAG:SYD:P(A;;FR;;;BU)"),
        ("O:BAG:SYD:(A;ID;FR;;;BU)", "O:BAG:SYD:AI(A;ID;FA;;;AU)"),
    ] {
        let given = Descriptor::parse_sddl(given).unwrap_or_default();
        assert_eq!(merged(&given, &root, false).sddl(), want);
    }
}

#[test]
fn what_is_kept_of_what_is_set() {
    for (given, want) in [
        ("D:(A;;GR;;;BU)(A;OIIO;GR;;;BU)", "D:(A;;FR;;;BU)(A;OIIO;GR;;;BU)"),
        ("D:NO_ACCESS_CONTROL", "D:NO_ACCESS_CONTROL"),
    ] {
        let given = Descriptor::parse_sddl(given).unwrap_or_default();
        assert_eq!(given.spelled_out().sddl(), want);
    }
    let (inherited, asked, protected) = (0x400, 0x100, 0x1000);
    for (control, want) in [
        (0, 0),
        (inherited, 0),
        (asked, 0),
        (inherited | asked, inherited),
        (protected | inherited, protected),
        (protected | asked | inherited, protected | inherited),
    ] {
        let given = Descriptor { control, ..Descriptor::default() };
        assert_eq!(given.kept_dacl_control(), want, "{control:#x}");
    }
    for (given, want) in [
        ("O:BAG:SYD:", true),
        ("O:BAG:SYD:NO_ACCESS_CONTROL", true),
        ("G:SYD:", false),
        ("O:BAD:", false),
        ("O:BAG:SY", false),
        ("O:BAG:SYS:", false),
    ] {
        let given = Descriptor::parse_sddl(given).unwrap_or_default();
        assert_eq!(given.is_complete(), want, "{given:?}");
    }
}
