//! Changes of inputs that keep the lengths of protobuf messages right: a change of single bytes
//! mostly breaks them.

use prost::encoding::{decode_varint, encode_varint};

/// A protobuf message, or whatever looks like one.
type Tree = Vec<Field>;

#[derive(Clone)]
struct Field {
    number: u64,
    /// Whether the key has more bytes than it needs.
    is_long: bool,
    value: Value,
}

#[derive(Clone)]
enum Value {
    Varint(u64),
    Fixed(Vec<u8>),
    Bytes(Vec<u8>),
    Message(Tree),
}

/// Numbers at which something changes: lengths, types, opsets, the ends of ranges.
const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    3,
    7,
    10,
    16,
    17,
    20,
    21,
    28,
    127,
    0x7FFF_FFFF,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Numbers of fields: of many messages, of one, of none.
const FIELDS: [u64; 10] = [1, 2, 3, 4, 5, 7, 9, 14, 20, 300];

/// The input with a few changes, which the seed decides.
pub fn mutate(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut tree = read(bytes);
    for _ in 0..1 + random.below(4) {
        match &mut tree {
            Some(tree) if !tree.is_empty() => change(tree, &mut random),
            _ => {
                let mut bytes = bytes.to_vec();
                change_bytes(&mut bytes, &mut random);
                return bytes;
            }
        }
    }
    let mut out = Vec::new();
    write(&tree.unwrap_or_default(), &mut out);
    out
}

/// Reads a message of any schema. Bytes that read as a message are taken for one.
fn read(mut bytes: &[u8]) -> Option<Tree> {
    let mut tree = Vec::new();
    while !bytes.is_empty() {
        let key = decode_varint(&mut bytes).ok()?;
        let value = match key & 7 {
            0 => Value::Varint(decode_varint(&mut bytes).ok()?),
            1 => Value::Fixed(bytes.split_off(..8)?.to_vec()),
            5 => Value::Fixed(bytes.split_off(..4)?.to_vec()),
            2 => {
                let length = usize::try_from(decode_varint(&mut bytes).ok()?).ok()?;
                let inside = bytes.split_off(..length)?;
                match read(inside).filter(|tree| !tree.is_empty()) {
                    Some(tree) => Value::Message(tree),
                    None => Value::Bytes(inside.to_vec()),
                }
            }
            _ => return None,
        };
        tree.push(Field {
            number: key >> 3,
            is_long: false,
            value,
        });
    }
    Some(tree)
}

fn write(tree: &Tree, out: &mut Vec<u8>) {
    for Field {
        number,
        is_long,
        value,
    } in tree
    {
        let mut key = |wire_type| {
            encode_varint(number << 3 | wire_type, out);
            if *is_long && let Some(last) = out.last_mut() {
                *last |= 0x80;
                out.push(0);
            }
        };
        match value {
            Value::Varint(value) => {
                key(0);
                encode_varint(*value, out);
            }
            Value::Fixed(bytes) => {
                key(if bytes.len() == 8 { 1 } else { 5 });
                out.extend(bytes);
            }
            Value::Bytes(bytes) => {
                key(2);
                encode_varint(bytes.len() as u64, out);
                out.extend(bytes);
            }
            Value::Message(tree) => {
                key(2);
                let mut inside = Vec::new();
                write(tree, &mut inside);
                encode_varint(inside.len() as u64, out);
                out.extend(inside);
            }
        }
    }
}

/// Changes one field, at any depth, of a message that is not empty.
fn change(tree: &mut Tree, random: &mut Random) {
    let mut all = Vec::new();
    list(tree, &mut all);
    let donor = all[random.below(all.len())].clone();
    let target = random.below(all.len());
    let same_number: Vec<&Field> = all
        .iter()
        .copied()
        .filter(|field| field.number == all[target].number)
        .collect();
    let relative = same_number[random.below(same_number.len())].clone();
    let (home, index) = locate(tree, target);
    match (random.below(10), &mut home[index].value) {
        (0, _) => drop(home.remove(index)),
        (1, _) => home.insert(index, relative),
        (2, _) => home.insert(index, donor),
        (3, _) => {
            let other = random.below(home.len());
            home.swap(index, other);
        }
        (4, field) => *field = relative.value,
        (5, _) => home[index].number = FIELDS[random.below(FIELDS.len())],
        (6, _) => home[index].is_long = true,
        (_, Value::Varint(number)) => {
            *number = match random.below(3) {
                0 => NUMBERS[random.below(NUMBERS.len())],
                1 => number.wrapping_add(1),
                _ => number.wrapping_sub(1),
            };
        }
        (_, Value::Fixed(bytes)) => {
            let at = random.below(bytes.len());
            bytes[at] = random.next() as u8;
        }
        (_, Value::Bytes(bytes)) => change_bytes(bytes, random),
        (_, Value::Message(inside)) => {
            let mut bytes = Vec::new();
            write(inside, &mut bytes);
            change_bytes(&mut bytes, random);
            home[index].value = Value::Bytes(bytes);
        }
    }
}

/// All fields, each before those inside it.
fn list<'t>(tree: &'t Tree, all: &mut Vec<&'t Field>) {
    for field in tree {
        all.push(field);
        if let Value::Message(inside) = &field.value {
            list(inside, all);
        }
    }
}

/// The message that holds a field, by the field's place in [`list`], and its index there.
fn locate(tree: &mut Tree, target: usize) -> (&mut Tree, usize) {
    let mut place = 0;
    for index in 0..tree.len() {
        let size = size(&tree[index]);
        match (target - place, &tree[index].value) {
            (0, _) => return (tree, index),
            (inside, Value::Message(_)) if inside < size => {
                let Value::Message(message) = &mut tree[index].value else {
                    unreachable!("it is a message")
                };
                return locate(message, inside - 1);
            }
            _ => place += size,
        }
    }
    unreachable!("the place is one of the tree")
}

/// How many fields a field is, with those inside.
fn size(field: &Field) -> usize {
    match &field.value {
        Value::Message(inside) => 1 + inside.iter().map(size).sum::<usize>(),
        _ => 1,
    }
}

fn change_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match (random.below(4), bytes.get_mut(at)) {
        (0, _) => bytes.insert(at, random.next() as u8),
        (1, Some(byte)) => *byte ^= 1 << random.below(8),
        (2, Some(_)) => drop(bytes.remove(at)),
        (_, Some(byte)) => *byte = random.next() as u8,
        (_, None) => bytes.extend_from_within(..at.min(16)),
    }
}

/// xorshift: the same numbers everywhere and always.
pub struct Random(u64);

impl Random {
    /// Other seeds give other numbers.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}
