package assetstats

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dateLayouts returns the layouts of dates that [ParseDates] tries, in the notation of package
// time, such as "2006-1-2".
func dateLayouts() []string {
	return []string{
		"2006-1-2", "2006/1/2", "2006.1.2", "20060102", "2.1.2006", "2/1/2006", "1/2/2006", "2-1-2006", "1-2-2006",
		"2/1/06", "1/2/06", "2.1.06", "2 Jan 2006", "2-Jan-2006", "2-Jan-06", "Jan 2, 2006", "January 2, 2006", "2 January 2006", "Jan 2 2006",
		"2006-01", "2006/01", "200601", "1/2006", "Jan 2006", "January 2006", "Jan-06", "Jan-2006", "2006",
	}
}

// ParseDates parses the dates of a history, one for each row. All dates must have the same layout.
// If several layouts fit, it takes the layout by which the most neighbouring rows are in order of
// time, ascending or descending. If no layout fits, the result ok is false.
func ParseDates(text []string) (dates []time.Time, ok bool) {
	best := -1
	for _, layout := range dateLayouts() {
		read := make([]time.Time, 0, len(text))
		for _, t := range text {
			d, err := time.Parse(layout, normalizeDate(t))
			if err != nil {
				break
			}
			read = append(read, d)
		}
		if len(read) < len(text) || len(text) == 0 {
			continue
		}
		up, down := 0, 0
		for k := range read[1:] {
			switch {
			case read[k].Before(read[k+1]):
				up++
			case read[k].After(read[k+1]):
				down++
			}
		}
		if in := max(up, down); in > best {
			best, dates = in, read
		}
	}
	if best < 0 {
		return parseSerialDates(text)
	}
	return dates, true
}

// normalizeDate removes the time of day from the text of a date. It replaces the name of a quarter
// by the quarter's first month, for example "2024 Q2" by "2024-04".
func normalizeDate(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 10 && (text[10] == 'T' || text[10] == ' ') && strings.Contains(text[10:], ":") {
		return text[:10]
	}
	for k, q := range []string{"Q1", "Q2", "Q3", "Q4"} {
		if year, ok := strings.CutSuffix(text, q); ok {
			return fmt.Sprintf("%s-%02d", strings.TrimRight(year, " -"), 3*k+1)
		}
	}
	return text
}

// parseSerialDates parses dates that spreadsheets store as the number of days since 30 December
// 1899. It returns false if a text is not a number of days in the years 1954 to 2119.
func parseSerialDates(text []string) ([]time.Time, bool) {
	var dates []time.Time
	for _, t := range text {
		days, err := strconv.ParseFloat(strings.TrimSpace(t), 64)
		if err != nil || days < 20_000 || days > 80_000 { // accepts the years 1954 to 2119
			return nil, false
		}
		dates = append(dates, time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(days)))
	}
	return dates, len(dates) > 0
}

// A Frequency says how often a history has a row, for example daily or monthly.
type Frequency struct {
	Name           string  // the frequency in words, such as "monthly"
	PeriodsPerYear float64 // number of rows in a year
}

// FrequencyOf returns the frequency of a history with the given ascending dates. The frequency
// follows from the median number of days between neighbouring dates. Daily dates are taken for
// trading days, unless more than a tenth of the dates are on weekends. The result is false if there
// are fewer than two dates, or if the median is below 0.9 days.
func FrequencyOf(dates []time.Time) (Frequency, bool) {
	if len(dates) < 2 {
		return Frequency{}, false
	}
	var gaps []float64
	weekend := 0
	for k, d := range dates {
		if d.Weekday() == time.Saturday || d.Weekday() == time.Sunday {
			weekend++
		}
		if k > 0 {
			gaps = append(gaps, d.Sub(dates[k-1]).Hours()/24)
		}
	}
	slices.Sort(gaps)
	typical := gaps[len(gaps)/2]
	switch {
	case typical < 0.9:
		return Frequency{}, false
	case typical < 2 && 10*weekend > len(dates):
		return Frequency{"daily, weekends too", 365}, true
	case typical < 2:
		return Frequency{"of trading days", 252}, true
	}
	for _, r := range []struct {
		least, most float64
		Frequency
	}{{6, 8, Frequency{"weekly", 52}}, {13, 15, Frequency{"fortnightly", 26}}, {27, 32, Frequency{"monthly", 12}}, {84, 95, Frequency{"quarterly", 4}}, {178, 188, Frequency{"half-yearly", 2}}, {360, 370, Frequency{"yearly", 1}}} {
		if r.least <= typical && typical <= r.most {
			return r.Frequency, true
		}
	}
	return Frequency{fmt.Sprintf("every %.4g days", typical), 365.25 / typical}, true
}
