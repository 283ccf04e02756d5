//! The kernels of a runtime: one line for each operator, versions of it, and versions of the
//! runtime.

use std::sync::LazyLock;

use super::operation::Operation;
use super::outcomes::{Outcome, Outcomes};
use super::ranges::{is_in, ranges};
use super::versions::Versions;
use crate::hash::HashMap;
use crate::runtimes::{Runtime, Version};
use crate::schemas::{self, Schema, TypeSet, ValueType};
use onnx_cast::DType;

/// The kernels of the versions of a runtime.
#[derive(Debug)]
pub struct Table {
    /// The name of the runtime.
    pub runtime: &'static str,
    /// Oldest first.
    versions: Vec<Version>,
    /// By domain and operator.
    kernels: HashMap<(&'static str, &'static str), Vec<Line>>,
    domains: Vec<&'static str>,
    /// By operator of ai.onnx that ONNX defines as a function: the opsets of models in which its
    /// body runs.
    functions: HashMap<&'static str, Vec<Line>>,
    /// By operator of ai.onnx: nodes that are refused in spite of a kernel.
    limits: HashMap<&'static str, Vec<Limit>>,
    /// The oldest opset of ai.onnx that versions support.
    oldest_opsets: Vec<(Versions, i64)>,
    /// What each version of the runtime computes, if this was established by running models in it;
    /// its kernels are then not listed. Of operators that an older one does not list, it computes
    /// the same as the newest.
    outcomes: Vec<Outcomes>,
    /// The versions that do not run functions of a model.
    refuse_calls: Versions,
}

/// Kernels for some versions of an operator, or bodies that run in some opsets, in some versions of
/// the runtime.
#[derive(Debug)]
struct Line {
    /// The versions of the operator, or the opsets: the first and the last of each range.
    numbers: Vec<(i64, i64)>,
    versions: Versions,
    /// By type variable.
    types: Vec<(&'static str, TypeSet)>,
    /// What is true of the nodes, as [`Operation::satisfies`] reads it.
    conditions: Vec<(&'static str, &'static str)>,
}

/// Conditions under all of which a node is refused.
#[derive(Debug)]
struct Limit {
    numbers: Vec<(i64, i64)>,
    versions: Versions,
    conditions: Vec<(&'static str, &'static str)>,
}

/// The versions of a runtime that have a kernel, and whether it computes what ONNX defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The versions that have a kernel, or may have one because types or the operators of the
    /// domain are unknown.
    pub possible: Versions,
    /// The versions that have a kernel whatever the unknown types are.
    pub certain: Versions,
    /// The versions that are known to compute something else than ONNX defines, which
    /// [`Table::instead`] names.
    pub wrong: Versions,
    /// The versions that compute other infinities or NaN, which a guard repairs.
    pub special: Versions,
}

/// The text of a table, without its comments.
macro_rules! facts {
    ($name:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $name))
    };
}

impl Table {
    /// All tables.
    #[must_use]
    pub fn all() -> &'static [Table] {
        static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
            vec![
                read("onnxruntime", &[facts!("onnxruntime.txt")]),
                read("tensorrt", &[facts!("tensorrt.txt")]),
                read(
                    "openvino",
                    &[
                        #[cfg(feature = "older-runtimes")]
                        facts!("openvino-2024.6.txt"),
                        #[cfg(feature = "older-runtimes")]
                        facts!("openvino-2025.4.txt"),
                        facts!("openvino.txt"),
                    ],
                ),
                read(
                    "opencv",
                    &[
                        #[cfg(feature = "older-runtimes")]
                        facts!("opencv-4.12.txt"),
                        facts!("opencv.txt"),
                    ],
                ),
                read(
                    "tract",
                    &[
                        #[cfg(feature = "older-runtimes")]
                        facts!("tract-0.21.txt"),
                        facts!("tract.txt"),
                    ],
                ),
            ]
        });
        &TABLES
    }

    /// The table of a runtime; none if its kernels are not known.
    #[must_use]
    pub fn of(runtime: &str) -> Option<&'static Table> {
        Table::all().iter().find(|table| table.runtime == runtime)
    }

    /// The table of a version of a runtime, and the index of the version. A version that is newer
    /// than the newest is treated as that one.
    #[must_use]
    pub fn of_runtime(runtime: &Runtime) -> Option<(&'static Table, usize)> {
        let table = Table::of(runtime.name)?;
        let newest = table.versions.len().checked_sub(1)?;
        match table.versions.binary_search(&runtime.version) {
            Ok(index) => Some((table, index)),
            Err(index) if index > newest => Some((table, newest)),
            Err(_) => None,
        }
    }

    /// Whether the table has what the runtime made of models, not the kernels that it lists.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        !self.outcomes.is_empty()
    }

    /// The versions of the runtime that are known not to run functions of a model.
    #[must_use]
    pub fn refuse_calls(&self) -> Versions {
        self.refuse_calls
    }

    /// Whether a version of the runtime, by its index, is known to run no node with an input or
    /// output of an element type.
    #[must_use]
    pub fn lacks(&self, dtype: DType, version: usize) -> bool {
        self.outcomes
            .get(version)
            .is_some_and(|outcomes| outcomes.lacks(dtype))
    }

    /// What each version of the runtime makes of an operation, which a guard makes right; nothing if
    /// the table has kernels.
    fn outcomes(&self, operation: &Operation) -> impl Iterator<Item = Outcome> {
        let (newest, older) = self.outcomes.split_last().unzip();
        let newest = newest.map(|newest| newest.of(operation).unwrap_or(Outcome::Unknown));
        let older = older.into_iter().flatten();
        older
            .filter_map(move |own| own.of(operation).or(newest))
            .chain(newest)
            .map(|outcome| match outcome {
                Outcome::Partly(_) | Outcome::Special(_) if operation.is_guarded(self.runtime) => {
                    Outcome::Right
                }
                _ => outcome,
            })
    }

    /// What a version of the runtime, by its index, computes for an operation, if that is known not
    /// to be what ONNX defines.
    #[must_use]
    pub fn instead(&self, operation: &Operation, version: usize) -> Option<&'static str> {
        match self.outcomes(operation).nth(version)? {
            Outcome::Wrong(what) | Outcome::Partly(what) => Some(what),
            _ => None,
        }
    }

    /// What the versions make of an operation, of a runtime that was run.
    fn measured(&self, operation: &Operation) -> Decision {
        let mut decision = Decision::NONE;
        for (version, outcome) in self.outcomes(operation).enumerate() {
            let this = Versions::between(version, version);
            match outcome {
                Outcome::Refused => continue,
                Outcome::Wrong(_) | Outcome::Partly(_) => decision.wrong |= this,
                Outcome::Special(_) => decision.special |= this,
                Outcome::Right | Outcome::Constant | Outcome::Unknown => {}
            }
            decision.possible |= this;
            if !matches!(outcome, Outcome::Constant | Outcome::Unknown) {
                decision.certain |= this;
            }
        }
        decision
    }

    /// The versions, oldest first.
    #[must_use]
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    /// Versions as text: `1.18 to 1.20, 1.22 or later (known to 1.32)`.
    #[must_use]
    pub fn describe(&self, versions: Versions) -> String {
        let newest = self.versions.len().saturating_sub(1);
        let range =
            |(first, last): (usize, usize)| match (self.versions[first], self.versions[last]) {
                (first, known) if last == newest && first != known => {
                    format!("{first} or later (known to {known})")
                }
                (first, _) if last == newest => format!("{first} or later"),
                (first, last) if first == last => first.to_string(),
                (first, last) => format!("{first} to {last}"),
            };
        versions
            .ranges(self.versions.len())
            .into_iter()
            .map(range)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The versions that have a kernel for an operation, or run the body of the function that it
    /// is. Runtimes call functions of a model unless running one showed that they do not.
    ///
    /// In onnxruntime, constants need no kernel, and a node with inputs of FLOAT16 that has
    /// neither, and is not a function, runs in FLOAT: it inserts casts, which name types by numbers
    /// and are not valid before opset 6.
    #[must_use]
    pub fn support(&self, operation: &Operation) -> Decision {
        if operation.is_call() {
            return Decision::of(!self.refuse_calls, !self.refuse_calls);
        }
        if self.is_built_in(operation.domain(), operation.op()) {
            return Decision::ALL;
        }
        if self.is_measured() {
            return self.measured(operation);
        }
        let lines = self.kernels.get(&(operation.domain(), operation.op()));
        if lines.is_none() && !operation.is_of_onnx() && !self.domains.contains(&operation.domain())
        {
            return Decision::UNKNOWN;
        }
        let (types, unknown) = (operation.types(), operation.unknown_variables());
        let lines = lines.map_or(&[][..], Vec::as_slice);
        let mut found = find(lines, operation.since(), &types, &unknown);
        if operation.is_function() && self.is_onnxruntime() {
            let bodies = self
                .functions
                .get(operation.op())
                .map_or(&[][..], Vec::as_slice);
            let fitting = bodies
                .iter()
                .filter(|line| are_true(&line.conditions, operation));
            found.add(find(fitting, operation.opset(), &types, &unknown));
        } else if operation.takes(DType::Float16)
            && operation.opset() >= FIRST_WITH_CASTS
            && self.is_onnxruntime()
        {
            let wide = |&(variable, value_type): &(&'static str, ValueType)| match value_type {
                ValueType::Tensor(DType::Float16) => (variable, ValueType::Tensor(DType::Float)),
                _ => (variable, value_type),
            };
            found.add(find(
                lines,
                operation.since(),
                &types.iter().map(wide).collect::<Vec<_>>(),
                &unknown,
            ));
        }
        let refused = self.refused(operation);
        Decision::of(found.possible & !refused, found.certain & !refused)
    }

    /// The limits whose conditions are true for an operation.
    fn limits_of(&self, operation: &Operation) -> impl Iterator<Item = &Limit> {
        let limits = self
            .limits
            .get(operation.op())
            .filter(|_| operation.domain().is_empty());
        let applies = |limit: &&Limit| {
            is_in(operation.since(), &limit.numbers) && are_true(&limit.conditions, operation)
        };
        limits.into_iter().flatten().filter(applies)
    }

    /// The attributes because of which a version refuses an operation in spite of a kernel, with
    /// their values.
    pub(super) fn refused_attributes(&self, operation: &Operation, version: usize) -> Vec<String> {
        let limit = self
            .limits_of(operation)
            .find(|limit| limit.versions.contains(version));
        let conditions = limit.map_or(&[] as &[_], |limit| &limit.conditions);
        let stated = |&(name, _): &(&str, &str)| {
            let value = operation.attribute_text(name)?;
            Some(format!("{name} = {value}"))
        };
        conditions.iter().filter_map(stated).collect()
    }

    /// The versions that refuse an operation in spite of a kernel.
    fn refused(&self, operation: &Operation) -> Versions {
        let limited = self
            .limits_of(operation)
            .fold(Versions::NONE, |all, limit| all | limit.versions);
        let is_too_old = |&&(_, oldest): &&(Versions, i64)| {
            operation.domain().is_empty() && operation.opset() < oldest
        };
        self.oldest_opsets
            .iter()
            .filter(is_too_old)
            .fold(limited, |all, &(versions, _)| all | versions)
    }

    /// Whether the versions that run an operation depend on the opset of the model, and not only on
    /// the version of its operator.
    #[must_use]
    pub fn depends_on_opset(&self, operation: &Operation) -> bool {
        operation.is_function() && !self.is_measured()
            || self
                .oldest_opsets
                .iter()
                .any(|&(_, oldest)| operation.opset() < oldest)
    }

    fn is_onnxruntime(&self) -> bool {
        self.runtime == "onnxruntime"
    }

    /// Constants become initializers of onnxruntime, and are data of the runtimes of `facts/runs/`:
    /// no kernel runs them.
    fn is_built_in(&self, domain: &str, op: &str) -> bool {
        (self.is_onnxruntime() || self.is_measured()) && domain.is_empty() && op == "Constant"
    }

    /// Whether a version of the runtime runs a version of an operator of ai.onnx in some type, in
    /// models of an opset.
    #[must_use]
    pub fn runs_in_some_type(&self, schema: &Schema, opset: i64, version: usize) -> bool {
        if let Some(own) = self.outcomes.get(version) {
            let newest = self.outcomes.last().filter(|_| !own.has(schema));
            return newest.unwrap_or(own).runs_some(schema);
        }
        let is_listed = |lines: Option<&Vec<Line>>, number: i64| {
            lines
                .into_iter()
                .flatten()
                .any(|line| is_in(number, &line.numbers) && line.versions.contains(version))
        };
        self.is_built_in(schema.domain, schema.name)
            || is_listed(
                self.kernels.get(&(schema.domain, schema.name)),
                schema.since_version,
            )
            || schema.function && is_listed(self.functions.get(schema.name), opset)
    }
}

impl Decision {
    const ALL: Decision = Decision::of(Versions::ALL, Versions::ALL);
    const NONE: Decision = Decision::of(Versions::NONE, Versions::NONE);
    const UNKNOWN: Decision = Decision::of(Versions::ALL, Versions::NONE);

    const fn of(possible: Versions, certain: Versions) -> Decision {
        Decision {
            possible,
            certain,
            wrong: Versions::NONE,
            special: Versions::NONE,
        }
    }

    fn add(&mut self, other: Decision) {
        self.possible |= other.possible;
        self.certain |= other.certain;
    }
}

/// The first opset in which the casts are valid that onnxruntime inserts.
const FIRST_WITH_CASTS: i64 = 6;

fn find<'l>(
    lines: impl IntoIterator<Item = &'l Line>,
    number: i64,
    types: &[(&'static str, ValueType)],
    unknown: &[&'static str],
) -> Decision {
    let mut decision = Decision::NONE;
    for line in lines
        .into_iter()
        .filter(|line| is_in(number, &line.numbers) && line.accepts(types))
    {
        decision.possible |= line.versions;
        if unknown
            .iter()
            .all(|variable| line.types_of(variable).is_none())
        {
            decision.certain |= line.versions;
        }
    }
    decision
}

/// Whether all conditions are known to be true for an operation.
fn are_true(conditions: &[(&str, &str)], operation: &Operation) -> bool {
    conditions
        .iter()
        .all(|&(name, values)| operation.satisfies(name, values) == Some(true))
}

impl Line {
    /// The types of a variable, if the line limits them.
    fn types_of(&self, variable: &str) -> Option<TypeSet> {
        self.types
            .iter()
            .find(|(name, _)| *name == variable)
            .map(|&(_, types)| types)
    }

    fn accepts(&self, types: &[(&'static str, ValueType)]) -> bool {
        types.iter().all(|&(variable, value_type)| {
            self.types_of(variable)
                .is_none_or(|types| types.contains(value_type))
        })
    }
}

/// The table of a runtime: of its kernels, or a file for each version that was run, oldest first.
fn read(runtime: &'static str, files: &[&'static str]) -> Table {
    let mut table = Table {
        runtime,
        versions: Vec::new(),
        kernels: HashMap::default(),
        domains: Vec::new(),
        functions: HashMap::default(),
        limits: HashMap::default(),
        oldest_opsets: Vec::new(),
        outcomes: Vec::new(),
        refuse_calls: Versions::NONE,
    };
    for text in files {
        add(&mut table, text);
    }
    table
}

/// Adds a file to a table.
fn add(table: &mut Table, text: &'static str) {
    let (mut section, mut sets) = ("", HashMap::default());
    for text in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(name) = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
        {
            section = name;
            if name == "elements" {
                table.outcomes.push(Outcomes::default());
            }
            if !matches!(
                name,
                "versions"
                    | "opsets"
                    | "types"
                    | "functions"
                    | "limits"
                    | "failures"
                    | "calls"
                    | "elements"
                    | "runs"
            ) {
                table.domains.push(schemas::canonical_domain(name));
            }
            continue;
        }
        let is_read = match section {
            "versions" => text
                .split(' ')
                .next()
                .and_then(Version::read)
                .map(|version| table.versions.push(version)),
            "opsets" => {
                opset_line(text, &table.versions).map(|oldest| table.oldest_opsets.push(oldest))
            }
            "types" => set_line(text).map(|(name, set)| {
                sets.insert(name, set);
            }),
            "functions" => line(text, &table.versions, &sets)
                .map(|(op, line)| table.functions.entry(op).or_default().push(line)),
            "limits" | "failures" => limit(text, &table.versions, &sets)
                .map(|(op, limit)| table.limits.entry(op).or_default().push(limit)),
            "calls" => {
                if text == "refused" {
                    let last = table.versions.len().saturating_sub(1);
                    table.refuse_calls |= Versions::between(last, last);
                }
                matches!(text, "right" | "refused").then_some(())
            }
            "elements" => table
                .outcomes
                .last_mut()
                .and_then(|outcomes| outcomes.add_elements(text)),
            "runs" => table
                .outcomes
                .last_mut()
                .and_then(|outcomes| outcomes.add(text)),
            domain => line(text, &table.versions, &sets).map(|(op, line)| {
                table
                    .kernels
                    .entry((schemas::canonical_domain(domain), op))
                    .or_default()
                    .push(line);
            }),
        };
        assert!(
            is_read.is_some(),
            "the facts about {} are tested, but: {text}",
            table.runtime
        );
    }
}

/// `VERSIONS OPSET`
fn opset_line(text: &'static str, all: &[Version]) -> Option<(Versions, i64)> {
    let (versions, oldest) = text.split_once(' ')?;
    Some((version_set(versions, all)?, oldest.parse().ok()?))
}

/// `NAME = type type …`
fn set_line(line: &'static str) -> Option<(&'static str, NamedSet)> {
    let (name, types) = line.split_once(" = ")?;
    Some((
        name,
        NamedSet {
            types,
            set: set(types.split(' '))?,
        },
    ))
}

/// A set that several lines share.
struct NamedSet {
    /// The types, separated by spaces.
    types: &'static str,
    set: Option<TypeSet>,
}

/// The set of these types. The inner `None` means any type: one of the types, such as a sparse
/// tensor, cannot be in a set.
fn set<'t>(types: impl Iterator<Item = &'t str>) -> Option<Option<TypeSet>> {
    let types = types.map(value_type).collect::<Option<Vec<ValueType>>>()?;
    Some(types.into_iter().try_fold(TypeSet::of(&[]), TypeSet::with))
}

/// `OPERATOR NUMBERS VERSIONS VARIABLE=TYPES …`
fn line(
    text: &'static str,
    all: &[Version],
    sets: &HashMap<&'static str, NamedSet>,
) -> Option<(&'static str, Line)> {
    let Head {
        op,
        numbers,
        versions,
        words,
    } = head(text, all)?;
    let mut line = Line {
        numbers,
        versions,
        types: Vec::new(),
        conditions: Vec::new(),
    };
    for word in words {
        let (variable, types) = word.split_once('=')?;
        if is_condition(variable) {
            line.conditions.push((variable, types));
            continue;
        }
        let types = match types.strip_prefix('@') {
            Some(name) => sets.get(name)?.set,
            None => set(types.split('|'))?,
        };
        line.types.extend(types.map(|types| (variable, types)));
    }
    Some((op, line))
}

/// Whether a name is that of an attribute or of an input, and not of a type variable, which begins
/// with a capital letter, or of a type.
fn is_condition(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase()) && !name.contains('(')
}

/// `OPERATOR NUMBERS VERSIONS NAME=VALUES …`
fn limit(
    text: &'static str,
    all: &[Version],
    sets: &HashMap<&'static str, NamedSet>,
) -> Option<(&'static str, Limit)> {
    let Head {
        op,
        numbers,
        versions,
        words,
    } = head(text, all)?;
    let condition = |word: &'static str| {
        let (name, values) = word.split_once('=')?;
        Some((
            name,
            values
                .strip_prefix('@')
                .map_or(Some(values), |name| Some(sets.get(name)?.types))?,
        ))
    };
    let conditions = words.map(condition).collect::<Option<Vec<_>>>()?;
    Some((
        op,
        Limit {
            numbers,
            versions,
            conditions,
        },
    ))
}

/// The beginning of a line.
struct Head {
    op: &'static str,
    /// The versions of the operator, or opsets.
    numbers: Vec<(i64, i64)>,
    versions: Versions,
    /// The words that remain.
    words: std::str::Split<'static, char>,
}

fn head(text: &'static str, all: &[Version]) -> Option<Head> {
    let mut words = text.split(' ');
    let (op, numbers, versions) = (words.next()?, words.next()?, words.next()?);
    let numbers = ranges(numbers)?;
    Some(Head {
        op,
        numbers,
        versions: version_set(versions, all)?,
        words,
    })
}

/// The first and the last part of a range.
fn bounds(range: &'static str) -> (&'static str, &'static str) {
    range.split_once('-').unwrap_or((range, range))
}

fn version_set(text: &'static str, all: &[Version]) -> Option<Versions> {
    let index = |version: &str| {
        all.iter()
            .position(|known| Version::read(version) == Some(*known))
    };
    text.split(',').try_fold(Versions::NONE, |set, range| {
        let (first, last) = bounds(range);
        Some(set | Versions::between(index(first)?, index(last)?))
    })
}

/// A type as the table writes it: `float`, `seq(tensor(float))`, `map(int64,float)`.
fn value_type(text: &str) -> Option<ValueType> {
    let Some((form, inner)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) else {
        return DType::from_name(text).map(ValueType::Tensor);
    };
    if form == "map" {
        let (key, value) = inner.split_once(',')?;
        return Some(ValueType::Map {
            key: DType::from_name(key)?,
            value: DType::from_name(value)?,
        });
    }
    match (form, value_type(inner)?) {
        ("tensor", tensor @ ValueType::Tensor(_)) => Some(tensor),
        ("seq", ValueType::Tensor(dtype)) => Some(ValueType::Sequence(dtype)),
        ("seq", ValueType::Map { key, value }) => Some(ValueType::SequenceOfMaps { key, value }),
        ("optional", ValueType::Tensor(dtype)) => Some(ValueType::Optional(dtype)),
        ("optional", ValueType::Sequence(dtype)) => Some(ValueType::OptionalSequence(dtype)),
        ("sparse_tensor", ValueType::Tensor(dtype)) => Some(ValueType::SparseTensor(dtype)),
        _ => None,
    }
}
