//! Models with many findings, whose texts are made on all cores.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::find;

#[test]
fn each_of_many_findings_has_the_text_of_its_node_and_a_fingerprint_of_its_own() {
    const NODES: usize = 6_000;
    let mut text = String::from(
        "<ir_version: 8, opset_import: [\"\": 13]>\ng (float[N] x) => (float[N] y0) {\n",
    );
    for node in 0..NODES {
        writeln!(
            text,
            "y{node} = Relu <a: int = 1, b: int = 2, c: int = 3> (x)"
        )
        .unwrap();
    }
    let found = find(&(text + "}"), "RC203");
    assert_eq!(found.len(), 3 * NODES);
    let mut wrong = Vec::new();
    for (index, one) in found.iter().enumerate() {
        let (node, attribute) = (index / 3, ["`a`", "`b`", "`c`"][index % 3]);
        let has_text = one
            .text()
            .is_some_and(|text| text.starts_with(&format!("y{node} = Relu <a: ")));
        if !has_text
            || !one.message.contains(attribute)
            || one.place() != format!("graph/#{node}:Relu")
        {
            wrong.push(format!(
                "{index}: {}: {}: {:?}",
                one.place(),
                one.message,
                one.text()
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}: {}",
        wrong.len(),
        found.len(),
        wrong[0]
    );
    let fingerprints: HashSet<String> = found.iter().map(|one| one.fingerprint()).collect();
    assert_eq!(fingerprints.len(), found.len());
}
