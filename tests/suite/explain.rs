//! `recast explain`: the codes that reports and errors have.

use crate::command::recast;

#[test]
fn a_code_with_two_meanings_is_explained_twice_and_an_unknown_one_is_an_error() {
    let out = recast(&["explain", "overridable"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(
        text,
        "overridable, a reason why a cast is not folded: a caller can override the input\n\
         overridable, a reason why a node cannot be converted: the conversion depends on an initializer that a caller can override\n"
    );
    let unknown = recast(&["explain", "nonsense"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(unknown.stderr).unwrap(),
        "recast: unknown code 'nonsense'; `recast explain` lists all codes\n"
    );
    assert_eq!(
        recast(&["rule", "RC101"]).stdout,
        recast(&["explain", "RC101"]).stdout,
        "the earlier name of the command works"
    );
}
