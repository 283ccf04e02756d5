//! The files of a folder of `src/`, including its `mod.rs`, and its subfolders do not use each
//! other in a cycle; a subfolder counts as a whole. An item that a `mod.rs` re-exports counts as
//! one of the file that defines it; a re-export by itself is not a use. The files of one operating
//! system count as one file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

use crate::support::expect_no_failures;

type ModulePath = Vec<String>;
/// A path below `src/` and the text of the file.
type Text<'t> = (&'t str, &'t str);

/// The files below `src/` with their texts.
pub fn sources() -> Vec<(PathBuf, String)> {
    sources_of(Path::new("src"))
}

fn sources_of(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    add_sources(folder, &mut files);
    files
}

/// The source folders of the crates that this one is built on.
fn crates() -> Vec<PathBuf> {
    let entries = fs::read_dir("crates").unwrap();
    entries
        .map(|entry| entry.unwrap().path().join("src"))
        .collect()
}

/// The source files of this crate and of those that it is built on.
pub fn sources_of_all_crates() -> Vec<(PathBuf, String)> {
    let others = crates();
    let others = others.iter().flat_map(|folder| sources_of(folder));
    sources().into_iter().chain(others).collect()
}

fn add_sources(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            files.push((path, text));
        }
    }
}

#[test]
fn the_files_and_subfolders_of_a_folder_are_not_in_cycles() {
    let mut failures = cycles(&sources());
    for folder in crates() {
        let in_src = |path: PathBuf| Path::new("src").join(path.strip_prefix(&folder).unwrap());
        let files: Vec<_> = sources_of(&folder)
            .into_iter()
            .map(|(path, text)| (in_src(path), text))
            .collect();
        let found = cycles(&files).into_iter();
        failures.extend(found.map(|cycle| format!("{}: {cycle}", folder.display())));
    }
    expect_no_failures(failures);
}

#[test]
fn cycles_are_found_through_reexports_and_paths_and_in_folders() {
    let cases: [(&[Text], &[&str]); 12] = [
        (
            &[
                ("m/mod.rs", "mod a; mod b;"),
                ("m/a.rs", "use super::b::B;"),
                ("m/b.rs", "struct B;"),
            ],
            &[],
        ),
        (
            &[
                ("m/mod.rs", "mod a; mod b;"),
                ("m/a.rs", "use super::b::B;"),
                ("m/b.rs", "fn f() { super::a::g(); }"),
            ],
            &["src/m: a, b"],
        ),
        (
            &[
                ("m/mod.rs", "mod a; mod b; pub use b::B;"),
                ("m/a.rs", "use super::{B, c::C};"),
                ("m/b.rs", "use crate::m::a;"),
            ],
            &["src/m: a, b"],
        ),
        (
            &[
                ("m/mod.rs", "mod a; pub use a::A; struct M;"),
                ("m/a.rs", "use super::M;"),
            ],
            &[],
        ),
        (
            &[
                ("m/mod.rs", "mod a; fn f() { a::g() } struct M;"),
                ("m/a.rs", "use super::M;"),
            ],
            &["src/m: a, mod"],
        ),
        (
            &[
                ("m/mod.rs", "mod a; use a::A; struct M(A);"),
                ("m/a.rs", "mod x86 { use super::super::M; }"),
            ],
            &["src/m: a, mod"],
        ),
        (
            &[
                ("m/mod.rs", "mod a; use a::A; struct M(A);"),
                (
                    "m/a.rs",
                    "// super::M\n#[cfg(test)]\nmod tests { use super::super::M; }",
                ),
            ],
            &[],
        ),
        (
            &[
                ("m/mod.rs", "mod a;\n#[path = \"unix.rs\"]\nmod system;"),
                ("m/a.rs", "use super::system;"),
                (
                    "m/unix.rs",
                    "const TEXT: &str = \"//\"; type A = super::a::A;",
                ),
            ],
            &["src/m: a, system"],
        ),
        (
            &[
                ("m/mod.rs", "mod a;\n#[path = \"unix/mod.rs\"]\nmod system;"),
                ("m/a.rs", "use super::system::b;"),
                ("m/unix/b.rs", "use super::c; use crate::m::a::A;"),
                ("m/unix/c.rs", ""),
            ],
            &["src/m: a, system"],
        ),
        (
            &[
                ("m/mod.rs", "mod a; mod n;"),
                ("m/a.rs", "use super::n::b::B;"),
                ("m/n/mod.rs", "mod b;"),
                ("m/n/b.rs", ""),
            ],
            &[],
        ),
        (
            &[
                ("m/mod.rs", "mod a; mod n;"),
                ("m/a.rs", "use super::n::b::B;"),
                ("m/n/mod.rs", "mod b; mod c;"),
                ("m/n/b.rs", ""),
                ("m/n/c.rs", "use crate::m::a;"),
            ],
            &["src/m: a, n"],
        ),
        (
            &[
                ("m/mod.rs", "mod n; struct M; fn f() { n::b::g() }"),
                ("m/n/mod.rs", "mod b;"),
                ("m/n/b.rs", "use crate::m::M;"),
            ],
            &["src/m: mod, n"],
        ),
    ];
    let mut failures = Vec::new();
    for (files, expected) in cases {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (Path::new("src").join(path), (*text).to_owned()))
            .collect();
        let found = cycles(&files);
        if found != expected {
            failures.push(format!("{files:?}: found {found:?}, expected {expected:?}"));
        }
    }
    expect_no_failures(failures);
}

/// What uses what: by folder, the names of files and subfolders in it.
type Uses = BTreeMap<ModulePath, BTreeSet<(String, String)>>;

/// The uses between the folders of `src/`, without those of `lib.rs` and `main.rs`.
pub fn uses_between_folders(files: &[(PathBuf, String)]) -> BTreeSet<(String, String)> {
    uses(files).remove(&ModulePath::new()).unwrap_or_default()
}

fn uses(files: &[(PathBuf, String)]) -> Uses {
    let code: Vec<(PathBuf, Vec<String>)> = files
        .iter()
        .map(|(path, text)| (path.clone(), tokens(&without_tests(text))))
        .collect();
    let renamed: BTreeMap<PathBuf, String> = files
        .iter()
        .flat_map(|(path, text)| renamed(path, text))
        .collect();
    let mut modules: BTreeMap<ModulePath, Module> = BTreeMap::new();
    for (path, tokens) in code {
        if path.file_stem().is_some_and(|stem| stem != "tests") {
            let name = module_path(&path, &renamed);
            let module = Module::read(&name, tokens);
            let systems = path
                .ancestors()
                .find(|folder| folder.is_relative() && renamed.contains_key(*folder));
            let same = modules
                .entry(systems.map_or(name, |systems| module_path(systems, &renamed)))
                .or_default();
            same.paths.extend(module.paths);
            same.reexports.extend(module.reexports);
        }
    }
    let mut uses = Uses::new();
    for (name, module) in modules.iter().filter(|(name, _)| !name.is_empty()) {
        let is_folder = |name: &ModulePath| {
            modules
                .keys()
                .any(|other| other.len() > name.len() && other.starts_with(name))
        };
        for used in module
            .paths
            .iter()
            .filter_map(|path| resolve(&modules, name, path, is_folder(name)))
        {
            let common = name
                .iter()
                .zip(&used)
                .take_while(|(left, right)| left == right)
                .count();
            let node = |path: &ModulePath| {
                path.get(common)
                    .cloned()
                    .unwrap_or_else(|| "mod".to_owned())
            };
            if !used.is_empty() && used != *name {
                uses.entry(name[..common].to_vec())
                    .or_default()
                    .insert((node(name), node(&used)));
            }
        }
    }
    uses
}

/// The cycles of each folder.
fn cycles(files: &[(PathBuf, String)]) -> Vec<String> {
    let mut cycles = Vec::new();
    for (folder, uses) in uses(files).iter().filter(|(folder, _)| !folder.is_empty()) {
        let names: Vec<&str> = uses
            .iter()
            .flat_map(|(from, to)| [from.as_str(), to])
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let index = |name: &str| names.binary_search(&name).unwrap() as u32;
        let graph =
            DiGraph::<(), ()>::from_edges(uses.iter().map(|(from, to)| (index(from), index(to))));
        for cycle in tarjan_scc(&graph)
            .into_iter()
            .filter(|cycle| cycle.len() > 1)
        {
            let mut cycle: Vec<&str> = cycle.into_iter().map(|file| names[file.index()]).collect();
            cycle.sort_unstable();
            cycles.push(format!("src/{}: {}", folder.join("/"), cycle.join(", ")));
        }
    }
    cycles
}

#[derive(Default)]
struct Module {
    /// The paths that the module uses, absolute.
    paths: BTreeSet<ModulePath>,
    /// The paths of the items that it imports, by their names in the module.
    reexports: BTreeMap<String, ModulePath>,
}

impl Module {
    fn read(name: &ModulePath, tokens: Vec<String>) -> Module {
        let mut module = Module::default();
        // The inline modules around the token, with the number of braces that were open before
        // them.
        let mut inline: Vec<(usize, String)> = Vec::new();
        let mut open = 0;
        let mut imports: Vec<(ModulePath, String)> = Vec::new();
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut at = 0;
        while at < tokens.len() {
            let here: ModulePath = name
                .iter()
                .chain(inline.iter().map(|(_, name)| name))
                .cloned()
                .collect();
            let next = |offset: usize| tokens.get(at + offset).map_or("", String::as_str);
            match tokens[at].as_str() {
                "{" => open += 1,
                "}" => {
                    open -= 1;
                    inline.pop_if(|(depth, _)| *depth == open);
                }
                "mod" if next(2) == "{" => {
                    inline.push((open, next(1).to_owned()));
                    at += 1;
                }
                "use" if next(1) != "<" => {
                    let is_public = at > 0 && matches!(tokens[at - 1].as_str(), "pub" | ")");
                    let end = at + tokens[at..].iter().position(|token| token == ";").unwrap();
                    for (path, alias) in use_tree(&tokens[at + 1..end]) {
                        let path = absolute(&here, path);
                        if is_public {
                            if !path.starts_with(name) {
                                module.paths.insert(path.clone());
                            }
                            module.reexports.insert(alias, path);
                        } else if inline.is_empty() {
                            imports.push((path, alias));
                        } else {
                            module.paths.insert(path);
                        }
                    }
                    at = end;
                }
                token if is_name(token) => {
                    names.insert(token.to_owned());
                    let mut path = vec![token.to_owned()];
                    while next(2 * path.len() - 1) == "::" && is_name(next(2 * path.len())) {
                        path.push(next(2 * path.len()).to_owned());
                    }
                    at += 2 * (path.len() - 1);
                    if path.len() > 1 {
                        module.paths.insert(absolute(&here, path));
                    }
                }
                _ => {}
            }
            at += 1;
        }
        for (path, alias) in imports {
            // Children may import it from here, as they do a re-export.
            module.reexports.insert(alias.clone(), path.clone());
            if names.contains(&alias) || !path.starts_with(name) {
                module.paths.insert(path);
            }
        }
        module
    }
}

/// The paths of a `use`, each with the name that it gets.
fn use_tree(tokens: &[String]) -> Vec<(ModulePath, String)> {
    let mut paths = Vec::new();
    let mut prefixes: Vec<ModulePath> = Vec::new();
    let mut path: ModulePath = Vec::new();
    let mut alias: Option<String> = None;
    let mut tokens = tokens.iter().map(String::as_str).chain([","]);
    let mut close = |prefixes: &[ModulePath], path: &mut ModulePath, alias: Option<String>| {
        if !path.is_empty() {
            let mut all: ModulePath = prefixes
                .iter()
                .flatten()
                .cloned()
                .chain(std::mem::take(path))
                .collect();
            if all.len() > 1 {
                all.pop_if(|last| last == "self");
            }
            let name = alias.unwrap_or_else(|| all.last().unwrap().clone());
            paths.push((all, name));
        }
    };
    while let Some(token) = tokens.next() {
        match token {
            "::" => {}
            "{" => prefixes.push(std::mem::take(&mut path)),
            "}" => {
                close(&prefixes, &mut path, alias.take());
                prefixes.pop();
            }
            "," => close(&prefixes, &mut path, alias.take()),
            "as" => alias = tokens.next().map(str::to_owned),
            name => path.push(name.to_owned()),
        }
    }
    paths
}

/// A path without `crate`, `self` and `super`. One that begins with another name is looked up in
/// the module.
fn absolute(here: &[String], path: ModulePath) -> ModulePath {
    let mut base = here.to_vec();
    let mut rest = path.into_iter().peekable();
    if rest.next_if(|first| first == "crate").is_some() {
        base.clear();
    }
    while let Some(step) = rest.next_if(|step| step == "self" || step == "super") {
        if step == "super" {
            base.pop();
        }
    }
    base.extend(rest);
    base
}

/// The module that defines what a path leads to.
fn resolve(
    modules: &BTreeMap<ModulePath, Module>,
    from: &ModulePath,
    path: &ModulePath,
    is_folder: bool,
) -> Option<ModulePath> {
    let mut path = path.clone();
    // A re-export may lead to another one.
    for _ in 0..8 {
        let depth = (0..=path.len())
            .rev()
            .find(|&depth| depth == 0 || modules.contains_key(&path[..depth]))?;
        let found = path[..depth].to_vec();
        let reexported = path
            .get(depth)
            .and_then(|name| Some((name, modules.get(&found)?.reexports.get(name)?)));
        match reexported {
            // What a module imports for itself is not looked up again.
            Some((_, target)) if (found != *from || is_folder) && *target != path => {
                path = target.iter().chain(&path[depth + 1..]).cloned().collect();
            }
            _ => return Some(found),
        }
    }
    None
}

/// The path of the module in a file: `a::b` for `src/a/b.rs` and `src/a/b/mod.rs`.
fn module_path(file: &Path, renamed: &BTreeMap<PathBuf, String>) -> ModulePath {
    let mut path = ModulePath::new();
    let mut folder = PathBuf::from("src");
    let below = file.strip_prefix("src").unwrap();
    for part in below.iter().map(|part| part.to_str().unwrap()) {
        folder.push(part);
        let is_file = folder == file;
        let name = renamed
            .get(&folder)
            .cloned()
            .unwrap_or_else(|| part.trim_end_matches(".rs").to_owned());
        if !(is_file && matches!(part, "mod.rs" | "lib.rs" | "main.rs")) {
            path.push(name);
        }
    }
    path
}

/// The files and folders to which a `#[path = ".."]` gives another name.
fn renamed(file: &Path, text: &str) -> Vec<(PathBuf, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let pair = |pair: &[&str]| {
        let path = pair[0]
            .trim()
            .strip_prefix("#[path = \"")?
            .strip_suffix("\"]")?;
        let name = pair[1].trim().strip_suffix(';')?.rsplit(' ').next()?;
        Some((
            file.parent()?.join(path.trim_end_matches("/mod.rs")),
            name.to_owned(),
        ))
    };
    lines.windows(2).filter_map(pair).collect()
}

/// The text without the module of unit tests at its end.
fn without_tests(text: &str) -> String {
    text.split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap()
        .replace("#[cfg(test)]\nmod tests;", "")
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names, `::` and signs, without comments, literals and lifetimes.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            let word = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            let hashes = rest[word..].chars().take_while(|&c| c == '#').count();
            if matches!(&rest[..word], "r" | "br") && rest[word + hashes..].starts_with('"') {
                let end = format!("\"{}", "#".repeat(hashes));
                let begin = word + hashes + 1;
                begin + rest[begin..].find(&end).unwrap() + end.len()
            } else {
                tokens.push(rest[..word].to_owned());
                word
            }
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c: char| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.unwrap() + 2
        } else if first == '\'' {
            let mut letters = rest[1..].chars();
            match (letters.next(), letters.next()) {
                (Some('\\'), Some(escaped)) => {
                    let begin = 2 + escaped.len_utf8();
                    begin + rest[begin..].find('\'').unwrap() + 1
                }
                (Some(letter), Some('\'')) => letter.len_utf8() + 2,
                _ => 1,
            }
        } else {
            if "{}();,<*".contains(first) {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}
