//! The enabled rules and their severities.

use onnx_recast::internals::all_rules;
use onnx_recast::internals::lint::FilePattern;
use onnx_recast::lint::{Layer, Selected, Selection, Selector, Severity};
use std::path::Path;

use crate::support::expect_no_failures;

fn codes(selection: &Selection) -> Vec<&'static str> {
    selection
        .rules()
        .iter()
        .map(|(rule, _)| rule.facts().code)
        .collect()
}

fn selectors(list: &str) -> Vec<Selector> {
    list.split_whitespace()
        .map(|code| code.parse().expect("a code"))
        .collect()
}

struct Case {
    name: &'static str,
    /// Of each layer: select, extend-select, ignore.
    layers: &'static [(Option<&'static str>, &'static str, &'static str)],
    selected: &'static str,
}

#[test]
fn longer_codes_and_later_layers_take_precedence() {
    let cases = [
        Case {
            name: "select replaces",
            layers: &[(Some("RC101 RC40"), "", "")],
            selected: "RC101 RC401 RC402 RC403 RC404",
        },
        Case {
            name: "a name is a code",
            layers: &[(Some("same-cast-twice"), "", "")],
            selected: "RC404",
        },
        Case {
            name: "a longer ignore",
            layers: &[(Some("RC40"), "", "RC402")],
            selected: "RC401 RC403 RC404",
        },
        Case {
            name: "a longer select",
            layers: &[(Some("RC402 RC101"), "", "RC4")],
            selected: "RC101 RC402",
        },
        Case {
            name: "of equals, ignore",
            layers: &[(Some("RC402 RC101"), "", "RC402")],
            selected: "RC101",
        },
        Case {
            name: "ALL is shortest",
            layers: &[(Some("ALL"), "RC404", "RC")],
            selected: "RC404",
        },
        Case {
            name: "a second layer extends",
            layers: &[(Some("RC401"), "", ""), (None, "RC403", "")],
            selected: "RC401 RC403",
        },
        Case {
            name: "a second layer ignores",
            layers: &[(Some("RC40"), "", ""), (None, "", "RC40")],
            selected: "",
        },
        Case {
            name: "a second layer selects anew",
            layers: &[(Some("RC401"), "RC402", "RC403"), (Some("RC403"), "", "")],
            selected: "RC403",
        },
        Case {
            name: "an ignored rule comes back",
            layers: &[(Some("RC401"), "", "RC402"), (None, "RC402", "")],
            selected: "RC401 RC402",
        },
    ];
    let mut failures = Vec::new();
    for Case {
        name,
        layers,
        selected,
    } in cases
    {
        let layers: Vec<Layer> = layers
            .iter()
            .map(|(select, extend, ignore)| Layer {
                select: select.map(selectors),
                extend_select: selectors(extend),
                ignore: selectors(ignore),
                ..Layer::default()
            })
            .collect();
        let found = codes(&Selection::of(&layers)).join(" ");
        if found != selected {
            failures.push(format!("{name}: {found}, not {selected}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn the_default_rules_are_float8_validity_undefined_results_clipped_weights_and_operators_of_onnxruntime()
 {
    let expected: Vec<&str> = all_rules()
        .filter(|rule| match &rule.code[..3] {
            "RC1" => rule.severity != Severity::Info,
            // Inference of all types takes too long.
            "RC2" => !["RC211", "RC212"].contains(&rule.code),
            _ => matches!(rule.code, "RC301" | "RC307" | "RC503"),
        })
        .map(|rule| rule.code)
        .collect();
    assert_eq!(codes(&Selection::default()), expected);
    assert!(all_rules().any(|rule| rule.selected == Selected::OnRequest));
}

#[test]
fn severities_use_the_longer_code_and_the_later_layer() {
    let severity = |list: &[(&str, Severity)]| {
        list.iter()
            .map(|(code, severity)| (code.parse().unwrap(), *severity))
            .collect()
    };
    let first = Layer {
        severity: severity(&[("RC101", Severity::Info), ("RC1", Severity::Error)]),
        ..Layer::default()
    };
    let second = Layer {
        severity: severity(&[("RC102", Severity::Info)]),
        ..Layer::default()
    };
    let selection = Selection::of([&first, &second]);
    let found: Vec<(&str, Severity)> = selection
        .rules()
        .iter()
        .take(3)
        .map(|(rule, severity)| (rule.facts().code, *severity))
        .collect();
    assert_eq!(
        found,
        [
            ("RC101", Severity::Info),
            ("RC102", Severity::Info),
            ("RC103", Severity::Error)
        ]
    );
}

#[test]
fn an_unknown_rule_is_rejected() {
    for text in ["", "RC9", "RC1011", "F401", "RC101x"] {
        assert!(text.parse::<Selector>().is_err(), "{text:?} is taken");
    }
    for text in ["rc101", "RC", "all", " RC2 ", "Cast-Missing-To"] {
        assert!(text.parse::<Selector>().is_ok(), "{text:?} is refused");
    }
}

#[test]
fn patterns_match_paths_names_and_folder_contents() {
    let cases = [
        ("legacy/*.onnx", "legacy/a.onnx", true),
        ("legacy/*.onnx", "legacy/deep/a.onnx", false),
        ("legacy/**/*.onnx", "legacy/deep/a.onnx", true),
        ("legacy", "legacy/deep/a.onnx", true),
        ("legacy/", "x/legacy/a.onnx", true),
        ("x/legacy", "x/legacy/a.onnx", true),
        ("x/legacy", "y/x/legacy/a.onnx", false),
        ("./legacy/*.onnx", "legacy/a.onnx", true),
        ("./a b", "a b/c.onnx", true),
        ("./legacy", "x/legacy/a.onnx", false),
        ("*_old.onnx", "x/a_old.onnx", true),
        ("*_old.onnx", "x/a_new.onnx", false),
    ];
    let mut failures = Vec::new();
    for (pattern, path, expected) in cases {
        let found = FilePattern::new(Path::new("base"), pattern)
            .unwrap()
            .matches(&Path::new("base").join(path));
        if found != expected {
            failures.push(format!("{pattern} matches {path}: {found}"));
        }
    }
    expect_no_failures(failures);
}
