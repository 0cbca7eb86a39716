//! Bytes as text, two digits each. Where a database is asked in text it is measured, so it costs little.

/// The digits of each byte.
const PAIRS: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    pairs
};

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = vec![0; 2 * bytes.len()];
    let (pairs, _) = text.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(bytes) {
        *pair = PAIRS[usize::from(*byte)];
    }
    // Digits are always text.
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_two_digits() {
        let all: Vec<u8> = (0..=255).collect();
        let digits: String = all.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hexadecimal(&all), digits);
        assert_eq!(hexadecimal(b""), "");
    }
}
