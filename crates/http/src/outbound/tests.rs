//! What may be read from, as tables.

use super::*;

#[test]
fn hosts() {
    let mut allowed = AllowedHosts::default();
    for text in ["Store.Example", "*.blob.example:443", "10.1.2.3:9000", "[fd00::7]:80", "[::1]"] {
        assert!(allowed.add(text), "{text}");
    }
    for text in
        ["", "*.", ".x", "a b", "http://x", "x:0", "x:y", "x:99999", "[::1", "user@x", "x/y"]
    {
        assert!(!AllowedHosts::default().add(text), "{text}");
    }
    for (host, port, want) in [
        ("store.example", 80, true),
        ("STORE.EXAMPLE", 8443, true),
        ("store.example.evil", 80, false),
        ("xstore.example", 80, false),
        ("a.blob.example", 443, true),
        ("a.b.blob.example", 443, true),
        ("a.blob.example", 80, false),
        ("blob.example", 443, false),
        (".blob.example", 443, false),
        ("xblob.example", 443, false),
        ("10.1.2.3", 9000, true),
        ("10.1.2.3", 9001, false),
        ("10.1.2.03", 9000, false),
        ("fd00::7", 80, true),
        ("::1", 5, true),
        ("127.0.0.1", 5, false),
    ] {
        assert_eq!(allowed.allows(host, port), want, "{host} {port}");
    }
    assert!(!AllowedHosts::default().allows("store.example", 80));
}

#[test]
fn addresses() {
    for (host, address, want) in [
        ("store.example", "93.184.216.34", true),
        ("store.example", "2606:2800:220:1::1", true),
        ("store.example", "127.0.0.1", false),
        ("store.example", "10.0.0.1", false),
        ("store.example", "172.16.5.5", false),
        ("store.example", "192.168.0.1", false),
        ("store.example", "100.64.0.1", false),
        ("store.example", "169.254.169.254", false),
        ("store.example", "0.0.0.0", false),
        ("store.example", "192.0.0.1", false),
        ("store.example", "192.0.2.1", false),
        ("store.example", "198.18.0.1", false),
        ("store.example", "198.51.100.1", false),
        ("store.example", "203.0.113.1", false),
        ("store.example", "224.0.0.1", false),
        ("store.example", "240.0.0.1", false),
        ("store.example", "255.255.255.255", false),
        ("store.example", "::", false),
        ("store.example", "::1", false),
        ("store.example", "fe80::1", false),
        ("store.example", "fd00::1", false),
        ("store.example", "fd00:ec2::254", false),
        ("store.example", "ff02::1", false),
        ("store.example", "::ffff:127.0.0.1", false),
        ("store.example", "::ffff:169.254.169.254", false),
        ("store.example", "::ffff:10.0.0.1", false),
        ("store.example", "64:ff9b::a00:1", false),
        ("store.example", "2002:7f00:1::", false),
        ("store.example", "2001:0:7f00:1::", false),
        ("store.example", "2001:db8::1", false),
        ("localhost", "127.0.0.1", false),
        ("127.0.0.1", "127.0.0.1", true),
        ("10.0.0.1", "10.0.0.1", true),
        ("10.0.0.1", "10.0.0.2", false),
        ("::1", "::1", true),
        ("169.254.169.254", "169.254.169.254", false),
        ("fd00:ec2::254", "fd00:ec2::254", false),
        ("fe80::1", "fe80::1", false),
        ("0.0.0.0", "0.0.0.0", false),
        ("::ffff:169.254.169.254", "::ffff:169.254.169.254", false),
    ] {
        let address: IpAddr = address.parse().expect("an address");
        assert_eq!(may_connect(host, address), want, "{host} {address}");
    }
}
