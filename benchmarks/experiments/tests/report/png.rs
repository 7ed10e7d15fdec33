//! What a screenshot shows: enough of PNG to count the colours of an image of 8 bits a channel, as browsers write them.

use std::collections::HashMap;

/// An image, its pixels by red, green and blue.
pub struct Image {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<[u8; 3]>,
}

impl Image {
    /// The most frequent colour, and its share of all pixels.
    pub fn ground(&self) -> ([u8; 3], f64) {
        let mut counts: HashMap<[u8; 3], usize> = HashMap::new();
        for pixel in &self.pixels {
            *counts.entry(*pixel).or_default() += 1;
        }
        let (colour, count) = counts.into_iter().max_by_key(|(_, count)| *count).expect("pixels");
        (colour, count as f64 / self.pixels.len() as f64)
    }
}

/// Reads an image.
pub fn read(bytes: &[u8]) -> Option<Image> {
    let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let (mut width, mut height, mut channels) = (0, 0, 0);
    let mut packed = Vec::new();
    while rest.len() >= 12 {
        let size = u32::from_be_bytes(rest[..4].try_into().ok()?) as usize;
        let data = rest.get(8..8 + size)?;
        match &rest[4..8] {
            b"IHDR" => {
                width = u32::from_be_bytes(data[..4].try_into().ok()?) as usize;
                height = u32::from_be_bytes(data[4..8].try_into().ok()?) as usize;
                channels = match (data[8], data[9], data[12]) {
                    (8, 2, 0) => 3,
                    (8, 6, 0) => 4,
                    _ => return None,
                };
            }
            b"IDAT" => packed.extend_from_slice(data),
            _ => {}
        }
        rest = &rest[12 + size..];
    }
    let mut lines = inflate(packed.get(2..)?)?;
    let stride = width * channels;
    let mut pixels = Vec::with_capacity(width * height);
    for row in 0..height {
        let begin = row * (stride + 1);
        let filter = *lines.get(begin)?;
        for index in 0..stride {
            let at = begin + 1 + index;
            let left = if index >= channels { lines[at - channels] } else { 0 };
            let above = if row > 0 { lines[at - stride - 1] } else { 0 };
            let corner = if row > 0 && index >= channels { lines[at - stride - 1 - channels] } else { 0 };
            let guess = match filter {
                0 => 0,
                1 => left,
                2 => above,
                3 => ((u16::from(left) + u16::from(above)) / 2) as u8,
                4 => nearest(left, above, corner),
                _ => return None,
            };
            *lines.get_mut(at)? = lines[at].wrapping_add(guess);
        }
        let line = &lines[begin + 1..begin + 1 + stride];
        pixels.extend(line.chunks(channels).map(|pixel| [pixel[0], pixel[1], pixel[2]]));
    }
    Some(Image { width, height, pixels })
}

/// The neighbour that is nearest to left + above - corner.
fn nearest(left: u8, above: u8, corner: u8) -> u8 {
    let target = i32::from(left) + i32::from(above) - i32::from(corner);
    let far = |value: u8| (target - i32::from(value)).abs();
    [left, above, corner].into_iter().min_by_key(|value| far(*value)).unwrap_or(0)
}

/// Bits of a packed stream, the lowest of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: usize) -> Option<usize> {
        let mut value = 0;
        for index in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            value |= usize::from(byte >> (self.at % 8) & 1) << index;
            self.at += 1;
        }
        Some(value)
    }

    /// The next symbol of a code: codes of a length follow one another, and longer ones follow shorter ones.
    fn symbol(&mut self, code: &Code) -> Option<usize> {
        let (mut value, mut first, mut index) = (0, 0, 0);
        for count in &code.counts {
            value |= self.take(1)?;
            if value < first + count {
                return code.symbols.get(index + value - first).copied();
            }
            index += count;
            first = (first + count) << 1;
            value <<= 1;
        }
        None
    }
}

/// A prefix code: how many codes there are of each length from 1, and the symbols in the order of their codes.
struct Code {
    counts: [usize; 15],
    symbols: Vec<usize>,
}

fn code(lengths: &[usize]) -> Code {
    let mut counts = [0; 15];
    let mut symbols: Vec<usize> = (0..lengths.len()).filter(|symbol| lengths[*symbol] > 0).collect();
    symbols.sort_by_key(|symbol| (lengths[*symbol], *symbol));
    symbols.iter().for_each(|symbol| counts[lengths[*symbol] - 1] += 1);
    Code { counts, symbols }
}

/// Unpacks a stream of the format of RFC 1951.
fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut bits = Bits { bytes, at: 0 };
    let mut out: Vec<u8> = Vec::new();
    loop {
        let last = bits.take(1)? == 1;
        let (literals, distances) = match bits.take(2)? {
            0 => {
                bits.at = bits.at.next_multiple_of(8);
                let size = bits.take(16)?;
                bits.take(16)?;
                let from = bits.at / 8;
                out.extend_from_slice(bytes.get(from..from + size)?);
                bits.at += size * 8;
                if last {
                    return Some(out);
                }
                continue;
            }
            1 => {
                let lengths: Vec<usize> = (0..288)
                    .map(|symbol| [8, 9, 7, 8][[144, 256, 280].iter().filter(|end| symbol >= **end).count()])
                    .collect();
                (code(&lengths), code(&[5; 30]))
            }
            2 => codes(&mut bits)?,
            _ => return None,
        };
        loop {
            let symbol = bits.symbol(&literals)?;
            match symbol {
                0..256 => out.push(symbol as u8),
                256 => break,
                _ => {
                    let length = long(&mut bits, symbol - 257, 4)?;
                    let symbol = bits.symbol(&distances)?;
                    let back = far(&mut bits, symbol)?;
                    let from = out.len().checked_sub(back)?;
                    (from..from + length).for_each(|index| out.push(out[index]));
                }
            }
        }
        if last {
            return Some(out);
        }
    }
}

/// The codes of a block that brings its own.
fn codes(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let (literals, distances, count) = (bits.take(5)? + 257, bits.take(5)? + 1, bits.take(4)? + 4);
    let mut lengths = [0; 19];
    for symbol in &ORDER[..count] {
        lengths[*symbol] = bits.take(3)?;
    }
    let of_lengths = code(&lengths);
    let mut lengths: Vec<usize> = Vec::new();
    while lengths.len() < literals + distances {
        let (value, times) = match bits.symbol(&of_lengths)? {
            16 => (*lengths.last()?, bits.take(2)? + 3),
            17 => (0, bits.take(3)? + 3),
            18 => (0, bits.take(7)? + 11),
            length => (length, 1),
        };
        lengths.extend(std::iter::repeat_n(value, times));
    }
    Some((code(&lengths[..literals]), code(&lengths[literals..literals + distances])))
}

/// The length that a symbol stands for: four of each number of further bits.
fn long(bits: &mut Bits<'_>, index: usize, each: usize) -> Option<usize> {
    match index {
        0..8 => Some(index + 3),
        28 => Some(258),
        8..28 => {
            let more = index / each - 1;
            Some(3 + ((each + index % each) << more) + bits.take(more)?)
        }
        _ => None,
    }
}

/// The distance that a symbol stands for: two of each number of further bits.
fn far(bits: &mut Bits<'_>, index: usize) -> Option<usize> {
    match index {
        0..4 => Some(index + 1),
        4..30 => {
            let more = index / 2 - 1;
            Some(1 + ((2 + index % 2) << more) + bits.take(more)?)
        }
        _ => None,
    }
}

#[test]
fn a_small_image_is_read() {
    // Two pixels beside each other, red and blue, packed with the fixed code and stored as it is.
    let stored = [0x78, 0x01, 0x01, 7, 0, 0xf8, 0xff, 0, 255, 0, 0, 0, 0, 255, 0, 0, 0, 0];
    let chunk = |name: &[u8; 4], data: &[u8]| {
        let mut out = (data.len() as u32).to_be_bytes().to_vec();
        out.extend_from_slice(name);
        out.extend_from_slice(data);
        out.extend_from_slice(&[0; 4]);
        out
    };
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    file.extend(chunk(b"IHDR", &[0, 0, 0, 2, 0, 0, 0, 1, 8, 2, 0, 0, 0]));
    file.extend(chunk(b"IDAT", &stored));
    file.extend(chunk(b"IEND", &[]));
    let image = read(&file).expect("an image");
    assert_eq!((image.width, image.height), (2, 1));
    assert_eq!(image.pixels, [[255, 0, 0], [0, 0, 255]]);
    // "aaaaaaaaaa" as one literal and a repetition, by the fixed code.
    assert_eq!(inflate(&[0x4b, 0x4c, 0x84, 0x01, 0x00]).expect("text"), b"aaaaaaaaaa");
}
