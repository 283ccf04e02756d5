//! The parser of ONNX text: its state, and what all parts of a model need.

use super::lexer::{Lexer, SyntaxError, Token};

/// The maximum nesting depth of graphs and types: in a file each takes two to three messages, and protobuf's readers limit the
/// depth to 100 messages.
const MAX_DEPTH: usize = 50;

pub(super) type Parsed<T> = Result<T, SyntaxError>;

pub(super) struct Parser<'t> {
    pub lexer: Lexer<'t>,
    pub depth: usize,
}

impl Parser<'_> {
    /// Reads items separated by commas, to the closing sign.
    pub(super) fn list(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        while !self.lexer.take(close)? {
            item(self)?;
            if !self.lexer.take(",")? {
                return self.lexer.expect(close);
            }
        }
        Ok(())
    }

    /// Parses a nested graph or type.
    pub(super) fn inner<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.lexer.error(format!("graphs and types are nested deeper than the limit of {MAX_DEPTH}")));
        }
        self.depth += 1;
        let inner = read(self);
        self.depth -= 1;
        inner
    }

    /// Names separated by commas, to the closing sign; an omitted name or `""` is empty.
    pub(super) fn names(&mut self, close: &str) -> Parsed<Vec<String>> {
        let mut names = Vec::new();
        self.list(close, |parser| {
            names.push(if parser.lexer.peek()? == Token::Sign(",") { String::new() } else { parser.lexer.word()? });
            Ok(())
        })?;
        Ok(names)
    }
}
