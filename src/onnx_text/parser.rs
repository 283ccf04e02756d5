//! The parser of ONNX text: its state, and what all parts of a model need.

use super::lexer::{Lexer, SyntaxError, Token};

/// The maximum nesting depth of graphs and types: in a file each takes two to three messages, and
/// protobuf's readers limit the depth to 100 messages.
const MAX_DEPTH: usize = 50;

pub(super) type Parsed<T> = Result<T, SyntaxError>;

pub(super) struct Parser<'t> {
    pub lexer: Lexer<'t>,
    pub depth: usize,
}

impl Parser<'_> {
    /// Items separated by commas, to the closing sign.
    pub(super) fn items<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.lexer.take(close)? {
            items.push(item(self)?);
            if !self.lexer.take(",")? {
                self.lexer.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    /// Items between two signs.
    pub(super) fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.lexer.expect(open)?;
        self.items(close, item)
    }

    /// Items in angle brackets; none if there are no brackets.
    pub(super) fn optional_list<T>(
        &mut self,
        item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        if self.lexer.take("<")? {
            self.items(">", item)
        } else {
            Ok(Vec::new())
        }
    }

    /// Parses a nested graph or type.
    pub(super) fn inner<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.lexer.error(format!(
                "graphs and types are nested deeper than the limit of {MAX_DEPTH}"
            )));
        }
        self.depth += 1;
        let inner = read(self);
        self.depth -= 1;
        inner
    }

    /// Names separated by commas, to the closing sign; an omitted name or `""` is empty.
    pub(super) fn names(&mut self, close: &str) -> Parsed<Vec<String>> {
        self.items(close, |parser| match parser.lexer.peek()? {
            Token::Sign(",") => Ok(String::new()),
            _ => parser.lexer.word(),
        })
    }
}
