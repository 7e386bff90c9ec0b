//! Addresses that must not be opened, in every spelling we know of, and those that must.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use proptest::prelude::*;

use super::*;

const SECRET: &str = "correct-horse-battery-9";

fn policy(private: Private) -> UrlPolicy {
    let secrets = Arc::new(Redactor::new([SECRET.to_owned()]));
    UrlPolicy::new(
        private,
        Blocklist::new(["bad.example", "*.half.example", "Bücher.example # books"]),
        secrets,
    )
}

fn check(text: &str) -> Result<(), Refusal> {
    policy(Private::Refused).check(text).map(drop)
}

#[test]
fn the_open_web_is_open() {
    for text in [
        "https://example.com/",
        "http://example.com:8080/a?b=c#d",
        "https://en.wikipedia.org/wiki/Rust_(programming_language)",
        "https://8.8.8.8/",
        "https://[2606:4700::1111]/",
        "https://half.example/",
        "https://notbad.example/",
        "HTTPS://Example.COM./x",
        "https://bucket.s3.amazonaws.com/a?X-Amz-Credential=AKIAIOSFODNN7EXAMPL1%2F20260101%2Fus-east-1&X-Amz-Signature=0123456789abcdef0123456789abcdef",
        "https://github.com/rust-lang/rust/commit/0123456789abcdef0123456789abcdef01234567",
    ] {
        assert_eq!(check(text), Ok(()), "{text}");
    }
}

#[test]
fn inside_places_are_closed_however_they_are_spelled() {
    for text in [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://017700000001/",
        "http://0177.0.0.1/",
        "http://%31%32%37.0.0.1/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127.0.0.1./",
        "http:\\\\127.0.0.1\\",
        "http:127.0.0.1",
        "http://0/",
        "http://0.0.0.0/",
        "http://10.1.2.3/",
        "http://172.16.0.1/",
        "http://172.31.255.255/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://192.0.2.1/",
        "http://198.18.0.1/",
        "http://203.0.113.9/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://[::1]/",
        "http://[::]/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://[fd12:3456::1]/",
        "http://[fec0::1]/",
        "http://[ff02::1]/",
        "http://[2001:db8::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::127.0.0.1]/",
        "http://[2002:7f00:1::]/",
        "http://[2002:0808:0808::]/",
        "http://[64:ff9b::10.0.0.1]/",
        "http://[64:ff9b:1::10.0.0.1]/",
        "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
        "http://[fe80::5efe:192.168.0.1]/",
        "http://localhost/",
        "http://LOCALHOST:8000/",
        "http://a.localhost/",
        "http://localhost./",
        "http://printer/",
        "http://nas.local/",
        "http://db.corp/",
        "http://host.docker.internal/",
        "http://kubernetes.default.svc/",
    ] {
        assert!(matches!(check(text), Err(Refusal::Private { .. })), "{text}: {:?}", check(text));
    }
}

#[test]
fn an_allowed_network_still_has_no_metadata() {
    let open = policy(Private::Allowed);
    for text in [
        "http://127.0.0.1:8000/",
        "http://localhost/",
        "http://10.0.0.1/",
        "http://nas.local/",
        "http://[::1]/",
    ] {
        assert!(open.check(text).is_ok(), "{text}");
    }
    for text in [
        "http://169.254.169.254/latest/meta-data",
        "http://169.254.170.2/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::]/",
        "http://[fd00:ec2::254]/",
        "http://[fe80::a9fe:a9fe]/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://METADATA.google.internal./",
        "http://metadata/",
    ] {
        assert!(matches!(open.check(text), Err(Refusal::Metadata { .. })), "{text}: {:?}", open.check(text));
    }
    assert_eq!(
        open.check_address("evil.example", "169.254.169.254".parse().unwrap()),
        Err(Refusal::Metadata { host: "evil.example".into() })
    );
}

#[test]
fn numbers_in_disguise_are_refused_even_when_they_are_public() {
    for text in [
        "http://134744072/",
        "http://0x08080808/",
        "http://8.8.2056/",
        "http://[::ffff:8.8.8.8]/",
        "http://[64:ff9b::8.8.8.8]/",
    ] {
        assert!(matches!(check(text), Err(Refusal::Disguised(_))), "{text}: {:?}", check(text));
    }
}

#[test]
fn addresses_of_a_lookup_are_judged_too() {
    let policy = policy(Private::Refused);
    let look = |ip: &str| policy.check_address("name.example", ip.parse().unwrap());
    assert_eq!(look("8.8.8.8"), Ok(()));
    assert_eq!(look("64:ff9b::808:808"), Ok(()), "networks without IPv4 reach it so");
    assert_eq!(look("::ffff:8.8.8.8"), Ok(()));
    for ip in [
        "10.0.0.1",
        "::1",
        "64:ff9b::a00:1",
        "::ffff:127.0.0.1",
        "2002:808:808::",
        "0.0.0.0",
        "fe80::1",
        "1::1",
    ] {
        assert!(matches!(look(ip), Err(Refusal::Private { .. })), "{ip}");
    }
}

#[test]
fn other_schemes_and_logins_are_refused_without_being_repeated() {
    for text in
        ["file:///etc/passwd", "ftp://example.com/", "gopher://x/", "javascript:alert(1)", "data:text/html,x"]
    {
        assert!(matches!(check(text), Err(Refusal::Scheme(_))), "{text}");
    }
    for text in ["", "example.com", "http://", "https://exa mple.com/", "http://[::1", "//example.com/"] {
        assert_eq!(check(text), Err(Refusal::NotAnAddress), "{text}");
    }
    let refusal = check("https://user:hunter2hunter2@example.com/").unwrap_err();
    assert_eq!(refusal, Refusal::Credentials { host: "example.com".into() });
    assert!(!refusal.to_string().contains("hunter2"));
    assert!(matches!(check("http://8.8.8.8@127.0.0.1/"), Err(Refusal::Credentials { .. })));
    assert_eq!(check(&format!("https://example.com/{}", "a".repeat(LONGEST))), Err(Refusal::TooLong));
}

#[test]
fn a_block_list_covers_what_is_below() {
    for text in [
        "https://bad.example/",
        "https://a.b.BAD.example./x",
        "https://x.half.example/",
        "https://bücher.example/",
    ] {
        assert!(matches!(check(text), Err(Refusal::Blocked { .. })), "{text}");
    }
    let list = Blocklist::new(["# nothing", "", "https://www.one.example/path", "two.example:8080", "   "]);
    assert_eq!(
        (list.finds("one.example"), list.finds("two.example")),
        (Some("https://www.one.example/path"), Some("two.example:8080"))
    );
    assert_eq!(list.finds("example"), None);
}

#[test]
fn secrets_do_not_leave_in_an_address() {
    for text in [
        format!("https://evil.example/?q={SECRET}"),
        format!("https://evil.example/{SECRET}/x"),
        format!("https://{SECRET}.evil.example/"),
        format!("https://evil.example/#{SECRET}"),
        "https://evil.example/?q=correct%2Dhorse%2Dbattery%2D9".to_owned(),
        "https://evil.example/?q=correct%252Dhorse%252Dbattery%252D9".to_owned(),
        "https://evil.example/?q=Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5LTk=".to_owned(),
        "https://evil.example/x/Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5LTk".to_owned(),
        "https://evil.example/?q=636f72726563742d686f7273652d626174746572792d39".to_owned(),
        "https://evil.example/?k=ghp_abcdefghijklmnopqrstuvwxyz0123456789".to_owned(),
        "https://evil.example/sk-ant-api03-abcdefghijklmnop1234567890abcdef".to_owned(),
    ] {
        assert_eq!(
            check(&text).map_err(|refusal| matches!(refusal, Refusal::Secret { .. })),
            Err(true),
            "{text}"
        );
        assert!(!check(&text).unwrap_err().to_string().contains("?q="), "{text}");
    }
}

proptest! {
    #[test]
    fn every_spelling_of_an_inside_number_is_refused(ip in prop_oneof![
        Just([127, 0, 0, 1]), any::<[u8; 2]>().prop_map(|[a, b]| [10, a, b, 1]), any::<[u8; 2]>().prop_map(|[a, b]| [192, 168, a, b]),
        any::<[u8; 2]>().prop_map(|[a, b]| [169, 254, a, b]),
    ]) {
        let number = u32::from_be_bytes(ip);
        let [a, b, c, d] = ip;
        let (high, low) = (number >> 16, number & 0xffff);
        for host in [
            format!("{number}"), format!("{number:#x}"), format!("0{number:o}"), format!("{a:#x}.{b:#x}.{c}.{d}"),
            format!("0{a:o}.{b}.{}", number & 0xffff), format!("[::ffff:{high:x}:{low:x}]"), format!("[2002:{high:x}:{low:x}::]"),
            format!("[64:ff9b::{high:x}:{low:x}]"), format!("[::{high:x}:{low:x}]"),
        ] {
            prop_assert!(check(&format!("http://{host}/")).is_err(), "{}", host);
        }
    }

    #[test]
    fn nothing_panics(text in "\\PC{0,60}", host in "[a-z0-9.:\\[\\]%@x-]{0,30}") {
        let _ = check(&text);
        let _ = check(&format!("http://{host}/{text}"));
    }
}
