//! Compares JSON documents with the schemas in `docs/schemas/`.
//!
//! The functions that run the command in tests call [`expect_valid`] for each document. A schema
//! refuses keys that it does not list, so that it has every key that a test prints.

use std::collections::BTreeMap;
use std::fs;
use std::process::Output;
use std::sync::LazyLock;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

pub const FOLDER: &str = "docs/schemas";

/// The schemas, by their names.
static SCHEMAS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let text = fs::read_to_string(entry.path()).ok()?;
        let schema = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        Some((name.strip_suffix(".schema.json")?.to_owned(), schema))
    };
    let entries = fs::read_dir(FOLDER).expect("the folder of the schemas is there");
    entries.flatten().filter_map(read).collect()
});

/// The keywords that the schemas use, and [`Schema::faults`] knows.
const KEYWORDS: [&str; 13] = [
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
];

/// Fails if a command that was asked for a JSON document printed one that its schema refuses.
pub fn expect_valid(arguments: &[&str], output: &Output) {
    let Some(command) = arguments.first().filter(|_| asks_for_json(arguments)) else {
        return;
    };
    // A document goes to standard error if standard output is that of a model.
    let texts = [&output.stdout, &output.stderr];
    let Some(text) = texts.into_iter().find(|text| text.starts_with(b"{")) else {
        return;
    };
    let faults = faults_of(command, text);
    assert!(faults.is_empty(), "recast {arguments:?}: {faults:#?}");
}

fn asks_for_json(arguments: &[&str]) -> bool {
    arguments.contains(&"--format=json")
        || arguments.windows(2).any(|two| two == ["--format", "json"])
}

/// The schema of a name.
pub fn schema(name: &str) -> &'static Value {
    SCHEMAS
        .get(name)
        .unwrap_or_else(|| panic!("there is no schema {name}"))
}

/// What the schema of a name refuses in a text.
pub fn faults_of(name: &str, text: &[u8]) -> Vec<String> {
    let Unique(value) = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(error) => return vec![error.to_string()],
    };
    Schema::read(name).faults(&value)
}

/// A part of a schema, with the document that contains it.
#[derive(Clone, Copy)]
struct Schema<'s> {
    document: &'s Value,
    part: &'s Value,
}

impl Schema<'static> {
    fn read(name: &str) -> Schema<'static> {
        let document = schema(name);
        Schema {
            document,
            part: document,
        }
    }
}

impl<'s> Schema<'s> {
    fn of(self, part: &'s Value) -> Schema<'s> {
        Schema {
            document: self.document,
            part,
        }
    }

    /// What it refuses in a value.
    fn faults(self, value: &Value) -> Vec<String> {
        let part = self.part.as_object().expect("a schema is an object");
        for keyword in part.keys() {
            assert!(KEYWORDS.contains(&&**keyword), "unknown keyword {keyword}");
        }
        if let Some(Value::String(reference)) = part.get("$ref") {
            return self.referred(reference, value);
        }
        if let Some(Value::Array(choices)) = part.get("anyOf") {
            let all = choices.iter().map(|choice| self.of(choice).faults(value));
            return all.min_by_key(Vec::len).unwrap_or_default();
        }
        let is_listed = match (part.get("const"), part.get("enum")) {
            (Some(only), _) => value == only,
            (_, Some(Value::Array(values))) => values.contains(value),
            _ => true,
        };
        if !is_listed {
            return vec![format!("{value} is none of the listed values")];
        }
        if part
            .get("type")
            .is_some_and(|types| !is_of_type(types, value))
        {
            return vec![format!("{value} is not of the type {}", part["type"])];
        }
        match value {
            Value::Object(keys) => self.faults_of_keys(part, keys),
            Value::Array(items) => {
                let schema = part.get("items");
                let of = |item| schema.map_or_else(Vec::new, |schema| self.of(schema).faults(item));
                items.iter().flat_map(of).collect()
            }
            _ => Vec::new(),
        }
    }

    fn referred(self, reference: &str, value: &Value) -> Vec<String> {
        let (file, pointer) = reference
            .split_once('#')
            .expect("a reference has a fragment");
        let document = match file.strip_suffix(".schema.json") {
            Some(name) => Schema::read(name).document,
            None => self.document,
        };
        let part = document.pointer(pointer);
        let part = part.unwrap_or_else(|| panic!("{reference} refers to nothing"));
        Schema { document, part }.faults(value)
    }

    fn faults_of_keys(self, part: &Map<String, Value>, keys: &Map<String, Value>) -> Vec<String> {
        let required = part.get("required").and_then(Value::as_array);
        let missing = required.into_iter().flatten().filter_map(Value::as_str);
        let mut faults: Vec<String> = missing
            .filter(|key| !keys.contains_key(*key))
            .map(|key| format!("the key {key} is missing"))
            .collect();
        for (key, value) in keys {
            let schema = part.get("properties").and_then(|known| known.get(key));
            let schema = schema.or_else(|| part.get("additionalProperties"));
            let found = match schema {
                Some(Value::Bool(false)) => vec!["the schema has no such key".to_owned()],
                Some(schema @ Value::Object(_)) => self.of(schema).faults(value),
                _ => Vec::new(),
            };
            faults.extend(found.into_iter().map(|fault| format!("{key}: {fault}")));
        }
        faults
    }
}

fn is_of_type(types: &Value, value: &Value) -> bool {
    let is_of = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        other => panic!("unknown type {other:?}"),
    };
    match types {
        Value::Array(types) => types.iter().any(is_of),
        one => is_of(one),
    }
}

/// A value whose objects have no key twice.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unique, D::Error> {
        deserializer.deserialize_any(UniqueKeys).map(Unique)
    }
}

struct UniqueKeys;

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Value;

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut keys = Map::new();
        while let Some((key, Unique(value))) = entries.next_entry::<String, _>()? {
            if keys.contains_key(&key) {
                return Err(serde::de::Error::custom(format!(
                    "the key {key} is there twice"
                )));
            }
            keys.insert(key, value);
        }
        Ok(keys.into())
    }
}
