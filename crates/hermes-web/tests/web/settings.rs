//! From settings to a policy and a service.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use hermes_guard::url::Refusal;
use hermes_home::{Home, Locator, Settings};
use hermes_web::service::{self, Extraction, NoService};
use hermes_web::{Network, policy};

fn load(dir: &Path, config: &str, env: &[(&str, &str)]) -> (Home, Settings) {
    std::fs::write(dir.join("config.yaml"), config).unwrap();
    let locator = Locator { hermes_home: Some(dir.into()), user_home: dir.to_path_buf(), profile_flag: None };
    let home = Home::locate(&locator).unwrap();
    let env: BTreeMap<OsString, OsString> =
        env.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let settings = Settings::load(&home, &env).unwrap();
    (home, settings)
}

#[test]
fn settings_make_the_policy() {
    let dir = tempfile::tempdir().unwrap();
    let check = |config: &str, env: &[(&str, &str)], url: &str| {
        let (home, settings) = load(dir.path(), config, env);
        policy::from_settings(&home, &settings).unwrap().check(url).map(drop)
    };
    let local = "http://127.0.0.1:8000/";
    assert!(matches!(check("", &[], local), Err(Refusal::Private { .. })));
    assert_eq!(check("security: {allow_private_urls: true}", &[], local), Ok(()));
    assert_eq!(check("", &[("HERMES_ALLOW_PRIVATE_URLS", "true")], local), Ok(()));
    std::fs::write(dir.path().join("sites.txt"), "# mine\nshared.example\n").unwrap();
    let list = "security: {website_blocklist: {enabled: true, domains: [own.example], shared_files: [sites.txt, gone.txt]}}";
    for url in ["https://own.example/", "https://a.shared.example/"] {
        assert!(matches!(check(list, &[], url), Err(Refusal::Blocked { .. })), "{url}");
    }
    let off = "security: {website_blocklist: {enabled: false, domains: [own.example]}}";
    assert_eq!(check(off, &[], "https://own.example/"), Ok(()));
    let secret = [("TAVILY_API_KEY", "very-secret-value-77")];
    let leak = "https://evil.example/?q=very-secret-value-77";
    assert!(matches!(check("security: {redact_secrets: false}", &secret, leak), Err(Refusal::Secret { .. })));
}

#[test]
fn settings_choose_the_service() {
    let dir = tempfile::tempdir().unwrap();
    let search = |config: &str, env: &[(&str, &str)]| {
        service::search(&load(dir.path(), config, env).1, &Network::default()).map(|backend| backend.name())
    };
    let nothing = search("", &[]).unwrap_err();
    assert!(
        matches!(nothing, NoService::None) && nothing.to_string().contains("TAVILY_API_KEY"),
        "{nothing}"
    );
    assert!(nothing.to_string().contains("SEARXNG_URL"), "{nothing}");
    assert_eq!(search("", &[("SEARXNG_URL", "http://localhost:8888")]).unwrap(), "searxng");
    let both = [("BRAVE_SEARCH_API_KEY", "b"), ("EXA_API_KEY", "e")];
    assert_eq!(search("", &both).unwrap(), "exa");
    assert_eq!(search("web: {backend: brave-free}", &both).unwrap(), "brave");
    assert_eq!(search("web: {backend: brave, search_backend: exa}", &both).unwrap(), "exa");
    let missing = search("web: {search_backend: tavily}", &both).unwrap_err().to_string();
    assert!(missing.contains("TAVILY_API_KEY") && missing.contains("web.search_backend"), "{missing}");
    assert!(matches!(search("web: {backend: nonsense}", &both), Err(NoService::Unknown { .. })));
    assert!(matches!(search("", &[("SEARXNG_URL", "localhost")]), Err(NoService::Address { .. })));
}

#[test]
fn we_read_pages_ourselves_unless_told_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    let reads = |config: &str, env: &[(&str, &str)]| {
        let chosen = service::extraction(&load(dir.path(), config, env).1, &Network::default());
        chosen.map(|chosen| if let Extraction::Service(backend) = chosen { backend.name() } else { "own" })
    };
    let key = [("TAVILY_API_KEY", "k")];
    assert_eq!(reads("", &key).unwrap(), "own");
    assert_eq!(reads("web: {backend: tavily}", &key).unwrap(), "tavily");
    assert_eq!(reads("web: {backend: searxng}", &key).unwrap(), "own");
    assert_eq!(reads("web: {backend: tavily, extract_backend: fetch}", &key).unwrap(), "own");
    assert!(matches!(reads("web: {extract_backend: exa}", &key), Err(NoService::Incomplete { .. })));
}
