//! Turns `facts/operators.txt`, whose format `facts/generate.py` describes, and
//! `facts/onnxruntime.txt` of the same format into static tables.
//!
//! A line that cannot be read stops the build and is named: the files are checked in, so that this
//! is a mistake of the project.
//!
//! Copies the tables of runtimes without their comments, which the library need not contain.

use std::collections::HashMap;
use std::env;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const SOURCE: &str = "facts/operators.txt";
const OF_ONNXRUNTIME: &str = "facts/onnxruntime.txt";
/// The folders of tables of runtimes.
const OF_RUNTIMES: [&str; 2] = ["kernels", "runs"];

/// Writes the tables as `facts.rs` into the build's output folder, and those of runtimes as `.txt`.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut tables = Tables::default();
    for (source, of_onnxruntime) in [(SOURCE, false), (OF_ONNXRUNTIME, true)] {
        println!("cargo::rerun-if-changed={source}");
        let text = fs::read_to_string(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        tables.of_onnxruntime = of_onnxruntime;
        for (index, line) in text.lines().enumerate() {
            let read = tables.read(line);
            read.unwrap_or_else(|| {
                panic!("{source}:{}: this line cannot be read: {line}", index + 1)
            });
        }
    }
    let target = out_dir.join("facts.rs");
    fs::write(&target, tables.render())
        .unwrap_or_else(|error| panic!("{}: {error}", target.display()));
    for folder in OF_RUNTIMES {
        let source = Path::new("facts").join(folder);
        println!("cargo::rerun-if-changed={}", source.display());
        copy_without_comments(&source, &out_dir)
            .unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    }
}

fn copy_without_comments(source: &Path, target: &Path) -> io::Result<()> {
    for entry in fs::read_dir(source)? {
        let path = entry?.path();
        let Some(name) = path
            .file_name()
            .filter(|_| path.extension().is_some_and(|extension| extension == "txt"))
        else {
            continue;
        };
        let text = fs::read_to_string(&path)?;
        let lines = text.split_inclusive('\n');
        let kept: String = lines.filter(|line| !line.starts_with('#')).collect();
        fs::write(target.join(name), kept)?;
    }
    Ok(())
}

/// The part of the file that was read so far; values are Rust expressions.
#[derive(Default)]
struct Tables {
    section: String,
    elements: HashMap<String, usize>,
    releases: Vec<String>,
    sets: Vec<(String, String)>,
    schemas: Vec<Schema>,
    /// Whether the schemas that are read are those of onnxruntime.
    of_onnxruntime: bool,
}

#[derive(Default)]
struct Schema {
    of_onnxruntime: bool,
    head: String,
    inputs: Vec<Formal>,
    outputs: Vec<Formal>,
    attributes: Vec<String>,
    constraints: Vec<(String, String)>,
}

/// A formal input or output: how often it occurs, its name, its type or type variable.
struct Formal {
    occurrence: String,
    name: String,
    type_name: String,
}

impl Tables {
    fn read(&mut self, line: &str) -> Option<()> {
        if line.is_empty() || line.starts_with('#') {
            return Some(());
        }
        if let Some(section) = line.strip_prefix('[') {
            self.section = section.strip_suffix(']')?.to_owned();
            return Some(());
        }
        match self.section.as_str() {
            "elements" => self.read_element(line),
            "releases" => self.read_release(line),
            "types" => self.read_set(line),
            _ => self.read_schema(line),
        }
    }

    fn read_element(&mut self, line: &str) -> Option<()> {
        let (number, name) = line.split_once(' ')?;
        self.elements.insert(name.to_owned(), number.parse().ok()?);
        Some(())
    }

    fn read_release(&mut self, line: &str) -> Option<()> {
        let (opset, ir) = line.split_once(' ')?;
        (opset.parse() == Ok(self.releases.len() + 1)).then(|| self.releases.push(ir.to_owned()))
    }

    fn read_set(&mut self, line: &str) -> Option<()> {
        let (name, members) = line.split_once(" = ")?;
        let set = self.set_of(members.split(' '))?;
        self.sets.push((name.to_owned(), set));
        Some(())
    }

    fn read_schema(&mut self, line: &str) -> Option<()> {
        if let Some(attributes) = line.strip_prefix("  attributes: ") {
            let attributes = attributes
                .split(", ")
                .map(attribute)
                .collect::<Option<_>>()?;
            self.schemas.last_mut()?.attributes = attributes;
        } else if let Some(constraints) = line.strip_prefix("  types: ") {
            let constraints = constraints
                .split(", ")
                .map(|text| self.constraint(text))
                .collect::<Option<_>>()?;
            self.schemas.last_mut()?.constraints = constraints;
        } else {
            let (head, signature) = line.split_once(':')?;
            let (inputs, outputs) = signature.split_once("->")?;
            let domain = if self.section == "ai.onnx" {
                String::new()
            } else {
                self.section.clone()
            };
            let (inputs, outputs) = (formals(inputs)?, formals(outputs)?);
            self.schemas.push(Schema {
                of_onnxruntime: self.of_onnxruntime,
                head: head_fields(&domain, head)?,
                inputs,
                outputs,
                ..Schema::default()
            });
        }
        Some(())
    }

    fn constraint(&self, text: &str) -> Option<(String, String)> {
        let (variable, set) = text.split_once(" = ")?;
        let set = match set.strip_prefix('@') {
            Some(name) => format!(
                "SETS[{}].1",
                self.sets.iter().position(|(known, _)| known == name)?
            ),
            None => self.set_of(set.split('|'))?,
        };
        Some((variable.to_owned(), set))
    }

    fn set_of<'a>(&self, members: impl Iterator<Item = &'a str>) -> Option<String> {
        let members: Option<Vec<_>> = members.map(|member| self.value_type(member)).collect();
        Some(format!("TypeSet::of(&[{}])", members?.join(", ")))
    }

    /// `float`, `tensor(float)`, `seq(tensor(float))`, `optional(…)`, `optional(seq(…))`,
    /// `map(int64,float)`, `seq(map(…))`.
    fn value_type(&self, text: &str) -> Option<String> {
        let inside = |prefix: &str| {
            text.strip_prefix(prefix)
                .map(|rest| rest.trim_end_matches(')'))
        };
        let element = |name: &str| Some(format!("element({})", self.elements.get(name)?));
        let map = |entry: &str| {
            let (key, value) = entry.split_once(',')?;
            Some(format!(
                "{{ key: {}, value: {} }}",
                element(key)?,
                element(value)?
            ))
        };
        for (prefix, variant) in [
            ("tensor(", "Tensor"),
            ("seq(tensor(", "Sequence"),
            ("optional(tensor(", "Optional"),
            ("optional(seq(tensor(", "OptionalSequence"),
        ] {
            if let Some(name) = inside(prefix) {
                return Some(format!("ValueType::{variant}({})", element(name)?));
            }
        }
        match (inside("map("), inside("seq(map(")) {
            (Some(entry), _) => Some(format!("ValueType::Map {}", map(entry)?)),
            (_, Some(entry)) => Some(format!("ValueType::SequenceOfMaps {}", map(entry)?)),
            _ => Some(format!("ValueType::Tensor({})", element(text)?)),
        }
    }

    fn render(&self) -> String {
        let mut code = String::new();
        let mut line =
            |text: String| writeln!(code, "{text}").expect("writing to a string cannot fail");
        line(format!(
            "pub(super) const IR_OF_OPSET: [i64; {}] = [{}];",
            self.releases.len(),
            self.releases.join(", ")
        ));
        line(format!(
            "pub(super) const SETS: [(&str, TypeSet); {}] = [",
            self.sets.len()
        ));
        for (name, set) in &self.sets {
            line(format!("    ({name:?}, {set}),"));
        }
        line("];".to_owned());
        for (table, of_onnxruntime) in [("SCHEMAS", false), ("SCHEMAS_OF_ONNXRUNTIME", true)] {
            let schemas = self
                .schemas
                .iter()
                .filter(|schema| schema.of_onnxruntime == of_onnxruntime);
            let schemas: Vec<String> = schemas.map(|schema| self.render_schema(schema)).collect();
            line(format!(
                "pub(super) static {table}: [Schema; {}] = [\n{}];",
                schemas.len(),
                schemas.concat()
            ));
        }
        code
    }

    fn render_schema(&self, schema: &Schema) -> String {
        let constraints = schema
            .constraints
            .iter()
            .map(|(name, set)| format!("Constraint {{ variable: {name:?}, types: {set} }}"));
        format!(
            "    Schema {{ {}, of_onnxruntime: {},\n        inputs: &[{}],\n        outputs: &[{}],\n        attributes: &[{}],\n        constraints: &[{}] }},\n",
            schema.head,
            schema.of_onnxruntime,
            self.render_formals(&schema.inputs, schema),
            self.render_formals(&schema.outputs, schema),
            schema.attributes.join(", "),
            constraints.collect::<Vec<_>>().join(", ")
        )
    }

    fn render_formals(&self, formals: &[Formal], schema: &Schema) -> String {
        let render = |Formal {
                          occurrence,
                          name,
                          type_name,
                      }: &Formal| {
            let declared = schema
                .constraints
                .iter()
                .find(|(variable, _)| variable == type_name)
                .map(|(_, set)| set.clone());
            let types = declared.or_else(|| self.set_of([type_name.as_str()].into_iter()));
            let types = types.unwrap_or_else(|| {
                panic!("{SOURCE}: {}: no type {type_name} of {name}", schema.head)
            });
            format!(
                "Formal {{ name: {name:?}, occurrence: {occurrence}, type_name: {type_name:?}, types: {types} }}"
            )
        };
        formals.iter().map(render).collect::<Vec<_>>().join(", ")
    }
}

fn head_fields(domain: &str, head: &str) -> Option<String> {
    let mut words = head.split(' ');
    let (name, since) = (words.next()?, words.next()?.parse::<u32>().ok()?);
    let (mut deprecated, mut function) = (false, false);
    for word in words {
        match word {
            "deprecated" => deprecated = true,
            "function" => function = true,
            _ => return None,
        }
    }
    let marks = format!("deprecated: {deprecated}, function: {function}");
    Some(format!(
        "domain: {domain:?}, name: {name:?}, since_version: {since}, {marks}"
    ))
}

fn formals(text: &str) -> Option<Vec<Formal>> {
    text.trim()
        .split(", ")
        .filter(|part| !part.is_empty())
        .map(formal)
        .collect()
}

fn formal(text: &str) -> Option<Formal> {
    let (name, type_name) = text.rsplit_once(':')?;
    let variadic = |rest: &str, at_least: usize| {
        let homogeneous = !rest.starts_with('~');
        let occurrence =
            format!("Occurrence::Variadic {{ at_least: {at_least}, homogeneous: {homogeneous} }}");
        (occurrence, rest.trim_start_matches('~').to_owned())
    };
    let (occurrence, name) = match name.split_at_checked(1)? {
        ("?", rest) => ("Occurrence::Optional".to_owned(), rest.to_owned()),
        ("*", rest) => variadic(rest, 0),
        ("+", rest) => variadic(rest, 1),
        _ => ("Occurrence::Single".to_owned(), name.to_owned()),
    };
    Some(Formal {
        occurrence,
        name,
        type_name: type_name.to_owned(),
    })
}

fn attribute(text: &str) -> Option<String> {
    let (name, rest) = text.split_once(' ')?;
    let (kind, default) = match rest.split_once(" = ") {
        Some((kind, default)) => (kind, Some(default)),
        None => (rest, None),
    };
    let (kind, required) = (kind.trim_end_matches('!'), kind.ends_with('!'));
    let list = |text: &str| {
        Some(format!(
            "&[{}]",
            text.strip_prefix('[')?
                .strip_suffix(']')?
                .replace(' ', ", ")
        ))
    };
    let default = match (kind, default) {
        (_, None) => "None".to_owned(),
        ("INT", Some(value)) => format!("Some(DefaultValue::Int({value}))"),
        ("FLOAT", Some(value)) => format!("Some(DefaultValue::Float({value}))"),
        ("STRING", Some(value)) => format!("Some(DefaultValue::String({value}))"),
        ("INTS", Some(value)) => format!("Some(DefaultValue::Ints({}))", list(value)?),
        ("STRINGS", Some(value)) => format!("Some(DefaultValue::Strings({}))", list(value)?),
        _ => return None,
    };
    let kind: String = kind
        .split('_')
        .map(|word| format!("{}{}", &word[..1], word[1..].to_lowercase()))
        .collect();
    Some(format!(
        "Attribute {{ name: {name:?}, kind: AttributeKind::{kind}, required: {required}, default: {default} }}"
    ))
}
