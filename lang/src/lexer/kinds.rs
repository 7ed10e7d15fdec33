//! The kinds of token, declared once: the enum, the patterns by which `logos` finds them, their text and the
//! set of keywords all derive from one table.
//!
//! `logos` finds whole tokens wherever a regular expression can describe them. Where none can (strings with
//! nested expressions, nesting comments, characters against labels), it finds the opening only, as the kind
//! named in the table, and [`super`] scans on by hand.

use logos::Logos;

macro_rules! token_kinds {
    (
        keywords { $($keyword:ident $keyword_text:tt)* }
        symbols { $($symbol:ident $symbol_text:tt)* }
    ) => {
        /// What a token is.
        #[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
        #[logos(skip r"[ \t\r\n\x0C]+")]
        #[logos(skip(r"//[^\n]*", allow_greedy = true))]
        pub enum TokenKind {
            $(
                #[doc = concat!("`", $keyword_text, "`")]
                #[token($keyword_text)]
                $keyword,
            )*
            $(
                #[doc = concat!("`", $symbol_text, "`")]
                #[token($symbol_text)]
                $symbol,
            )*
            /// A name, or `_`.
            #[regex("[A-Za-z_][A-Za-z0-9_]*")]
            Name,
            /// An integer: decimal, hexadecimal or binary.
            #[regex("[0-9][0-9_]*")]
            #[regex("0[xXbBoO][0-9A-Za-z_]*")]
            Int,
            /// A number with a point, an exponent or both.
            #[regex(r"[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9][0-9_]*)?")]
            #[regex("[0-9][0-9_]*[eE][+-]?[0-9][0-9_]*")]
            Float,
            /// `'a'`. (The pattern finds the quote only.)
            #[token("'")]
            Char,
            /// `'outer`, without a closing quote.
            Label,
            /// A whole string without interpolation. (The pattern finds the quote only.)
            #[token("\"")]
            Str,
            /// `"""raw"""`.
            RawStr,
            /// `"text${`: a string up to its first interpolation.
            StrStart,
            /// `}text${`: a string from one interpolation to the next.
            StrMiddle,
            /// `}text"`: a string from its last interpolation to its end. Without any text, it stands for the
            /// end that an unterminated string lacks.
            StrEnd,
            /// Something unreadable, already reported. (The pattern finds the opening of block comments.)
            #[token("/*")]
            Error,
            /// The end of the file.
            Eof,
        }

        impl TokenKind {
            /// True for reserved words.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(TokenKind::$keyword)|*)
            }

            /// The text of tokens that are always written the same.
            pub fn text(self) -> Option<&'static str> {
                match self {
                    $(TokenKind::$keyword => Some($keyword_text),)*
                    $(TokenKind::$symbol => Some($symbol_text),)*
                    _ => None,
                }
            }
        }
    };
}

token_kinds! {
    keywords {
        Abstract "abstract"
        As "as"
        Break "break"
        Catch "catch"
        Class "class"
        Continue "continue"
        Else "else"
        Enum "enum"
        False "false"
        Fn "fn"
        For "for"
        If "if"
        Import "import"
        In "in"
        Init "init"
        Interface "interface"
        Is "is"
        Let "let"
        Loop "loop"
        Match "match"
        Null "null"
        Override "override"
        Private "private"
        Return "return"
        Static "static"
        Super "super"
        This "this"
        Throw "throw"
        True "true"
        Try "try"
        Var "var"
        While "while"
    }
    symbols {
        OpenParen "("
        CloseParen ")"
        OpenBracket "["
        CloseBracket "]"
        OpenBrace "{"
        CloseBrace "}"
        Comma ","
        Semicolon ";"
        Colon ":"
        Dot "."
        DotDot ".."
        DotDotEq "..="
        Question "?"
        QuestionDot "?."
        Arrow "->"
        FatArrow "=>"
        Plus "+"
        Minus "-"
        Star "*"
        Slash "/"
        Percent "%"
        And "&"
        Or "|"
        Xor "^"
        Tilde "~"
        Bang "!"
        Shl "<<"
        Shr ">>"
        Ushr ">>>"
        AndAnd "&&"
        OrOr "||"
        Coalesce "??"
        EqEq "=="
        NotEq "!="
        Less "<"
        LessEq "<="
        Greater ">"
        GreaterEq ">="
        Eq "="
        PlusEq "+="
        MinusEq "-="
        StarEq "*="
        SlashEq "/="
        PercentEq "%="
        AndEq "&="
        OrEq "|="
        XorEq "^="
        ShlEq "<<="
        ShrEq ">>="
        UshrEq ">>>="
        CoalesceEq "??="
    }
}

impl TokenKind {
    /// The name of the kind, as token dumps show it.
    pub fn name(self) -> &'static str {
        match self {
            TokenKind::Name => "name",
            TokenKind::Int => "int",
            TokenKind::Float => "float",
            TokenKind::Char => "char",
            TokenKind::Label => "label",
            TokenKind::Str => "string",
            TokenKind::RawStr => "raw-string",
            TokenKind::StrStart => "string-start",
            TokenKind::StrMiddle => "string-middle",
            TokenKind::StrEnd => "string-end",
            TokenKind::Error => "error",
            TokenKind::Eof => "end",
            kind if kind.is_keyword() => "keyword",
            _ => "symbol",
        }
    }
}
