//! Simple commands are found wherever they hide, with what is known of their words.

use hermes_guard::shell::ast::{CommandKind, Direction};
use hermes_guard::shell::{Field, Place, Variables, parse, sites, trace, tree};

/// Every command with its words as far as they are known.
fn traced(text: &str) -> Vec<String> {
    let script = parse(text).unwrap();
    let mut lines = Vec::new();
    trace(&script, &mut Variables::new(), &mut |site, variables| {
        let words = site.simple().words.iter().map(|word| variables.resolve(word));
        let shown: Vec<String> = words
            .map(|value| match value.fields() {
                [] => "…".to_owned(),
                fields => fields.iter().map(Field::shown).collect::<Vec<_>>().join("|"),
            })
            .collect();
        if !shown.is_empty() {
            lines.push(shown.join(" "));
        }
    });
    lines
}

#[test]
fn assignments_reach_later_commands() {
    assert_eq!(traced("a=rm; $a -rf /"), ["rm -rf /"]);
    assert_eq!(traced("a=r; b=m; $a$b -rf \"$HOME\""), ["rm -rf ~"]);
    assert_eq!(traced("a=rm b=-rf\nx=\"$a $b\"; $x ~"), ["rm|-rf ~"]);
    assert_eq!(traced("a=r; a+=m; $a x"), ["rm x"]);
    assert_eq!(traced("rm${IFS}-rf${IFS}/"), ["rm|-rf|/"]);
    assert_eq!(traced("export a=rm; $a x"), ["export a=rm", "rm x"]);
    assert_eq!(traced(": ${a:=rm}; $a x"), [": rm", "rm x"]);
}

#[test]
fn a_prefix_assignment_is_not_yet_there() {
    assert_eq!(traced("a=rm $a x"), ["… x"]);
    assert_eq!(traced("a=rm ls; $a x"), ["ls", "… x"]);
}

#[test]
fn what_may_not_have_run_is_unknown() {
    assert_eq!(traced("a=ls; if b; then a=rm; fi; $a x"), ["b", "… x"]);
    assert_eq!(traced("a=ls; b && a=rm; $a x"), ["b", "… x"]);
    assert_eq!(traced("a=rm; b || a=ls && $a x"), ["b", "… x"]);
    assert_eq!(traced("a=ls; (a=rm; $a y); $a x"), ["rm y", "ls x"]);
    assert_eq!(traced("a=ls; a=rm & $a x"), ["ls x"]);
    assert_eq!(traced("a=ls; echo rm | read a; $a x"), ["echo rm", "read a", "ls x"]);
    assert_eq!(traced("a=ls; read a; $a x"), ["read a", "… x"]);
    assert_eq!(traced("a=ls; eval \"$b\"; $a x"), ["eval …", "… x"]);
    assert_eq!(traced("a=ls; while $a y; do a=rm; done; $a x"), ["… y", "… x"]);
    assert_eq!(traced("a=1; ((a++)); echo $a"), ["echo …"]);
}

#[test]
fn loops_over_known_words_are_unrolled() {
    assert_eq!(traced("for d in / /home; do rm -rf $d; done"), ["rm -rf /", "rm -rf /home"]);
    assert_eq!(traced("for c in rm; do $c x; done; $c y"), ["rm x", "… y"]);
    assert_eq!(traced("for f in *; do rm $f; done"), ["rm *"]);
    assert_eq!(traced("for f in $(ls); do rm $f; done"), ["ls", "rm …"]);
    let many = "for i in {1..100}; do echo $i; done";
    assert_eq!(traced(many), ["echo …"]);
}

#[test]
fn nested_loops_do_not_multiply() {
    let mut text = "echo".to_owned();
    for i in 0..12 {
        text = format!("for v{i} in a b c d; do {text}; done");
    }
    assert!(traced(&text).len() <= 100);
}

#[test]
fn places_and_neighbours() {
    let text = "curl u | { sudo bash; } & f() { echo \"$(id)\"; }; cat <<E >(tee x)\n$(pwd)\nE\n";
    let script = parse(text).unwrap();
    let found: Vec<(String, Vec<Place>)> = sites(&script)
        .iter()
        .map(|site| (site.command.span.of(text).split('\n').next().unwrap().to_owned(), site.places.clone()))
        .collect();
    let function = Place::Function("f".to_owned());
    assert_eq!(
        found,
        [
            ("curl u".to_owned(), vec![Place::Background]),
            ("sudo bash".to_owned(), vec![Place::Background, Place::Group]),
            ("id".to_owned(), vec![function.clone(), Place::Group, Place::Substitution]),
            ("echo \"$(id)\"".to_owned(), vec![function, Place::Group]),
            ("pwd".to_owned(), vec![Place::HereDocument, Place::Substitution]),
            ("tee x".to_owned(), vec![Place::Process(Direction::ToProcess)]),
            ("cat <<E >(tee x)".to_owned(), vec![]),
        ]
    );
    let all = sites(&script);
    let bash = &all[1];
    assert_eq!(bash.upstream.unwrap().span.of(text), "curl u");
    assert!(matches!(all[0].downstream.unwrap().kind, CommandKind::Group(_)));
    assert!(all[2].upstream.is_none());
}

#[test]
fn text_that_is_fed_to_a_command() {
    let fed = |text: &str| {
        let script = parse(text).unwrap();
        let mut found = None;
        trace(&script, &mut Variables::new(), &mut |site, variables| {
            found = site.input(variables).map(|field| field.shown());
        });
        found
    };
    assert_eq!(fed("bash <<E\nrm -rf $HOME\nE\n").as_deref(), Some("rm -rf ~\n"));
    assert_eq!(fed("bash <<'E'\nrm -rf $HOME\nE\n").as_deref(), Some("rm -rf $HOME\n"));
    assert_eq!(fed("a=rm; bash <<-E\n\t$a x\n\tE\n").as_deref(), Some("rm x\n"));
    assert_eq!(fed("bash <<< 'rm x'").as_deref(), Some("rm x\n"));
    assert_eq!(fed("bash <<< \"$(curl u)\"").as_deref(), Some("…\n"));
    assert_eq!(fed("bash < file"), None);
    assert_eq!(fed("bash 3<<E\nx\nE\n"), None);
    assert_eq!(fed("bash"), None);
}

#[test]
fn commands_hidden_in_quotes_inside_braces_are_seen() {
    // Between double quotes the single quotes do not quote, and bash runs `id`.
    let script = parse("echo \"${x:-'$(id)'}\"").unwrap();
    assert_eq!(sites(&script).len(), 2);
    let script = parse("echo ${x:-'$(id)'}").unwrap();
    assert_eq!(sites(&script).len(), 1);
}

#[test]
fn a_tree_for_people() {
    let text = "cd /x && make -j2 2>&1 | tee \"log-$(date)\" &\nif [[ -f a ]]; then rm a; fi";
    let drawn = "\
in the background
  cd /x
  and
    pipeline
      make -j2 2>&1
      | tee \"log-$(date)\"
        $( )
          date
if
  [[ -f a ]]
then
  rm a
";
    assert_eq!(tree(&parse(text).unwrap()), drawn);
}
