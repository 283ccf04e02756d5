//! The tokens of the text format.

/// The text is not a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct SyntaxError {
    /// The line, starting at 1.
    pub line: usize,
    /// The error: the expected and the actual token.
    pub what: String,
}

/// A token of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'t> {
    /// An identifier or value name: letters, digits, `_`, `.` and the other name characters.
    Name(&'t str),
    /// A number as written, with its sign; also `inf`, `-inf`, `nan`.
    Number(&'t str),
    /// A quoted string, without the quotes and with escapes resolved.
    Quoted(String),
    /// Any other punctuation, such as `=>`.
    Sign(&'t str),
    /// The end of the text.
    End,
}

/// Splits a text into tokens.
pub(super) struct Lexer<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, position: 0 }
    }

    /// Returns the next token without consuming it.
    pub fn peek(&mut self) -> Result<Token<'t>, SyntaxError> {
        let before = self.position;
        let token = self.next();
        self.position = before;
        token
    }

    pub fn next(&mut self) -> Result<Token<'t>, SyntaxError> {
        self.skip_blanks();
        let rest = &self.text[self.position..];
        let Some(first) = rest.chars().next() else {
            return Ok(Token::End);
        };
        if first == '"' {
            return self.quoted();
        }
        let is_number =
            |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+'));
        let length = match first {
            _ if is_number(rest) => {
                let mut previous = ' ';
                let in_number = |c: char| {
                    let exponent_sign =
                        matches!(c, '-' | '+') && matches!(previous, 'e' | 'E' | ' ');
                    previous = c;
                    c.is_ascii_alphanumeric() || c == '.' || exponent_sign
                };
                let mut in_number = in_number;
                rest.find(|c| !in_number(c)).unwrap_or(rest.len())
            }
            _ if is_name_char(first) => rest.find(|c| !is_name_char(c)).unwrap_or(rest.len()),
            '=' if rest.starts_with("=>") => 2,
            _ => first.len_utf8(),
        };
        self.position += length;
        let word = &rest[..length];
        Ok(match word {
            "inf" | "nan" => Token::Number(word),
            _ if is_number(rest) => Token::Number(word),
            _ if is_name_char(first) => Token::Name(word),
            _ => Token::Sign(word),
        })
    }

    /// Consumes the next token if it is this sign.
    pub fn take(&mut self, sign: &str) -> Result<bool, SyntaxError> {
        let found = self.peek()? == Token::Sign(sign);
        if found {
            self.next()?;
        }
        Ok(found)
    }

    pub fn expect(&mut self, sign: &str) -> Result<(), SyntaxError> {
        if self.take(sign)? {
            Ok(())
        } else {
            Err(self.expected(&format!("'{sign}'")))
        }
    }

    /// A keyword or identifier.
    pub fn name(&mut self) -> Result<&'t str, SyntaxError> {
        self.read("a name", |token| match token {
            Token::Name(name) => Some(name),
            _ => None,
        })
    }

    /// A name from the model, quoted or not.
    pub fn word(&mut self) -> Result<String, SyntaxError> {
        self.read("a name", |token| match token {
            Token::Name(word) | Token::Number(word) => Some(word.to_owned()),
            Token::Quoted(text) => Some(text),
            _ => None,
        })
    }

    pub fn integer<T: std::str::FromStr>(&mut self) -> Result<T, SyntaxError> {
        self.read("an integer", |token| match token {
            Token::Number(number) => number.parse().ok(),
            _ => None,
        })
    }

    pub fn string(&mut self) -> Result<String, SyntaxError> {
        self.read("a quoted string", |token| match token {
            Token::Quoted(text) => Some(text),
            _ => None,
        })
    }

    /// Consumes the next token if it has a value; if not, `what` was expected.
    fn read<T>(
        &mut self,
        what: &str,
        value: impl FnOnce(Token<'t>) -> Option<T>,
    ) -> Result<T, SyntaxError> {
        let before = self.position;
        value(self.next()?).ok_or_else(|| {
            self.position = before;
            self.expected(what)
        })
    }

    /// The error for an unexpected token.
    pub fn expected(&mut self, what: &str) -> SyntaxError {
        let found = match self.peek() {
            Ok(Token::End) => "the end of the text".to_owned(),
            Ok(Token::Name(word) | Token::Number(word) | Token::Sign(word)) => format!("'{word}'"),
            Ok(Token::Quoted(text)) => format!("\"{text}\""),
            Err(error) => return error,
        };
        self.error(format!("expected {what}, found {found}"))
    }

    pub fn error(&mut self, what: String) -> SyntaxError {
        self.skip_blanks();
        SyntaxError {
            line: 1 + self.text[..self.position].matches('\n').count(),
            what,
        }
    }

    fn quoted(&mut self) -> Result<Token<'t>, SyntaxError> {
        let mut out = String::new();
        let mut chars = self.text[self.position + 1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.position += at + 2;
                    return Ok(Token::Quoted(out));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, 'r')) => out.push('\r'),
                    Some((_, '0')) => out.push('\0'),
                    Some((_, 'u')) => {
                        let digits: String = chars
                            .by_ref()
                            .map(|(_, c)| c)
                            .take_while(|&c| c != '}')
                            .collect();
                        let code = digits
                            .strip_prefix('{')
                            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
                        match code.and_then(char::from_u32) {
                            Some(c) => out.push(c),
                            None => {
                                return Err(
                                    self.error(format!("'\\u{digits}' is not a character; a character is written as \\u{{7f}}"))
                                );
                            }
                        }
                    }
                    Some((_, other)) => out.push(other),
                    None => break,
                },
                other => out.push(other),
            }
        }
        Err(self.error("the quoted string is not terminated".to_owned()))
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.position..];
            let trimmed = rest.trim_start();
            self.position += rest.len() - trimmed.len();
            if !trimmed.starts_with('#') {
                return;
            }
            self.position += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }
}

/// Value names are not limited to identifiers: exporters write paths.
fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '$' | ';')
}
