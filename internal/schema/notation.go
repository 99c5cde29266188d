package schema

import (
	"encoding/json"
	"strconv"
	"strings"
)

// inScientificNotation returns value with every number spelled as decimal
// arithmetic spells its results, and equal to what it was.
func inScientificNotation(value any) any {
	switch value := value.(type) {
	case json.Number:
		return scientific(value)
	case []any:
		spelled := make([]any, len(value))
		for i, item := range value {
			spelled[i] = inScientificNotation(item)
		}
		return spelled
	case map[string]any:
		spelled := make(map[string]any, len(value))
		for name, member := range value {
			spelled[name] = inScientificNotation(member)
		}
		return spelled
	default:
		return value
	}
}

// scientific is to-scientific-string of the General Decimal Arithmetic
// Specification: all digits stay, and there is an exponent only where the number
// would need zeros that are not among them, or more than five behind its point.
func scientific(literal json.Number) json.Number {
	const leastMagnitude = -6
	sign, mantissa, exponent := splitLiteral(string(literal))
	whole, fraction, _ := strings.Cut(mantissa, ".")
	power := parseExponent(exponent)
	if power > exactExponent || power < -exactExponent {
		return literal
	}
	power -= int64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		digits = "0"
	}
	magnitude := power + int64(len(digits)) - 1
	if power > 0 || magnitude < leastMagnitude {
		return json.Number(sign + withPoint(digits, 1) + "E" + signed(magnitude))
	}
	return json.Number(sign + withPoint(digits, len(digits)+int(power)))
}

func splitLiteral(literal string) (sign, mantissa, exponent string) {
	mantissa = literal
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	if at := strings.IndexAny(mantissa, "eE"); at >= 0 {
		mantissa, exponent = mantissa[:at], mantissa[at+1:]
	}
	return sign, mantissa, exponent
}

// withPoint puts the decimal point behind so many digits, or that far before them.
func withPoint(digits string, at int) string {
	if at <= 0 {
		return "0." + strings.Repeat("0", -at) + digits
	}
	if at == len(digits) {
		return digits
	}
	return digits[:at] + "." + digits[at:]
}

func signed(exponent int64) string {
	if exponent < 0 {
		return strconv.FormatInt(exponent, 10)
	}
	return "+" + strconv.FormatInt(exponent, 10)
}
