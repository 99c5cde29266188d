package schema

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// number is a JSON number taken apart, never evaluated: neg·digits·10^exp with
// no leading or trailing zero in digits, and no digits at all for zero. Because
// the power of ten is kept as a power, 1e999999999 takes as little room as 1, and
// a literal of a million digits is compared in one pass over its text.
type number struct {
	neg     bool
	digits  string
	exp     int64
	literal string
}

const (
	// farExponent stands for every exponent of more than maxExponentDigits digits.
	// Such numbers still order and divide correctly against all others; only among
	// themselves they are told apart by their text alone.
	farExponent       = int64(1) << 60
	maxExponentDigits = 18
	exactExponent     = int64(1e18)

	chunkDigits = 18
)

// parseNumber reads a literal that is known to be a valid JSON number.
func parseNumber(literal string) number {
	n := number{literal: literal}
	rest := literal
	if strings.HasPrefix(rest, "-") {
		n.neg, rest = true, rest[1:]
	}
	mantissa, exponent := rest, ""
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		mantissa, exponent = rest[:at], rest[at+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	n.exp = parseExponent(exponent) - int64(len(fraction))
	n.digits = whole
	if fraction != "" {
		n.digits = whole + fraction
	}
	n.normalize()
	return n
}

// SameNumber reports whether two literals are one number, however each is written.
func SameNumber(a, b string) bool {
	return string(parseNumber(a).appendKey(nil)) == string(parseNumber(b).appendKey(nil))
}

func (n *number) normalize() {
	n.digits = strings.TrimLeft(n.digits, "0")
	significant := strings.TrimRight(n.digits, "0")
	n.exp += int64(len(n.digits) - len(significant))
	n.digits = significant
	if n.digits == "" {
		n.neg, n.exp = false, 0
	}
}

func parseExponent(text string) int64 {
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimLeft(strings.TrimLeft(text, "+-"), "0")
	if text == "" {
		return 0
	}
	value := farExponent
	if len(text) <= maxExponentDigits {
		value, _ = strconv.ParseInt(text, 10, 64)
	}
	if negative {
		return -value
	}
	return value
}

func (n number) isZero() bool { return n.digits == "" }

func (n number) isInteger() bool { return n.exp >= 0 }

func (n number) isFar() bool { return n.exp > exactExponent || n.exp < -exactExponent }

// magnitude is the place of the leading digit, which decides every comparison of
// numbers that do not share it.
func (n number) magnitude() int64 { return n.exp + int64(len(n.digits)) }

func (n number) sign() int {
	switch {
	case n.isZero():
		return 0
	case n.neg:
		return -1
	default:
		return 1
	}
}

func (n number) compare(other number) int {
	if n.sign() != other.sign() {
		return compareInts(int64(n.sign()), int64(other.sign()))
	}
	if n.isZero() {
		return 0
	}
	order := compareInts(n.magnitude(), other.magnitude())
	if order == 0 {
		order = strings.Compare(n.digits, other.digits)
	}
	return order * n.sign()
}

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// appendKey writes the one text shared by all spellings of the same number.
func (n number) appendKey(key []byte) []byte {
	if n.isFar() {
		return append(key, strings.ToLower(n.literal)...)
	}
	if n.neg {
		key = append(key, '-')
	}
	key = append(key, n.digits...)
	key = append(key, 'e')
	return strconv.AppendInt(key, n.exp, 10)
}

// clampInt turns a count (minLength and its kin) into an int. No string or list
// is longer than the largest int, so a larger count means the same as that one.
func (n number) clampInt() int {
	const room = 18
	if n.isZero() || n.neg || n.exp < 0 {
		return 0
	}
	if n.magnitude() > room {
		return math.MaxInt
	}
	count, _ := strconv.Atoi(n.digits + strings.Repeat("0", int(n.exp)))
	return count
}

// divisor is a multipleOf value with its digits ready for modular arithmetic.
type divisor struct {
	value  number
	digits *big.Int
}

func newDivisor(value number) *divisor {
	digits, _ := new(big.Int).SetString(value.digits, 10)
	return &divisor{value: value, digits: digits}
}

// divides never writes the power of ten out: n is a multiple exactly when
// digits·10^(difference of exponents) is 0 modulo the divisor's digits. With a
// negative difference n would need a trailing zero, which it has not.
func (d *divisor) divides(n number) bool {
	if n.isZero() {
		return true
	}
	shift := n.exp - d.value.exp
	if shift < 0 {
		return false
	}
	rest := remainder(n.digits, d.digits)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), d.digits)
	rest.Mul(rest, power)
	return rest.Mod(rest, d.digits).Sign() == 0
}

// remainder works through the digits in chunks, so that a literal of any length
// never becomes one big integer.
func remainder(digits string, modulus *big.Int) *big.Int {
	rest, chunk, scale := new(big.Int), new(big.Int), new(big.Int)
	for len(digits) > 0 {
		width := min(chunkDigits, len(digits))
		part, _ := strconv.ParseInt(digits[:width], 10, 64)
		scale.SetInt64(powerOfTen(width))
		rest.Mul(rest, scale).Add(rest, chunk.SetInt64(part)).Mod(rest, modulus)
		digits = digits[width:]
	}
	return rest
}

func powerOfTen(width int) int64 {
	power := int64(1)
	for range width {
		power *= 10
	}
	return power
}
