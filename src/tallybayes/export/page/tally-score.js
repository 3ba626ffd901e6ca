// Scores rows by the JSON of Model.to_json, to the same digits as Python. No dependencies.
//   const score = tallyScore(JSON.parse(text));
//   score({outlook: "sunny", humidity: 80})
//   → {prediction, classes, probabilities, reasons: [{name, value, logOdds}], ...}
// A row lacks a value that is absent, null or NaN. What Python refuses throws an Error with one sentence.
"use strict";
function tallyScore(card) {
  const classes = card.classes.values, C = classes.length, calibration = card.calibration || {kind: "none"};
  const down = numbers => numbers.map(x => (x === null ? -Infinity : x));
  const times = (x, log) => (x === 0 ? 0 : x * log);
  const zeros = () => new Array(C).fill(0);
  const logPrior = down(card.log_prior), bias = calibration.bias;
  const refuse = (name, want, got) => { throw new Error(`column '${name}': wanted ${want}, got ${got}.`); };

  const keyOf = (kind, value) => {
    if (kind === "text") return String(value);
    if (kind === "dates" || kind === "times") {
      const text = value instanceof Date ? value.toISOString().replace("Z", "") : String(value).replace(" ", "T");
      return kind === "dates" ? text.slice(0, 10) : text.replace(/\.0+$/, "");
    }
    if (kind === "booleans" || value === true || value === false) {
      value = {true: 1, false: 0}[value] ?? value;
    }
    const whole = /^-?\d+$/.test(value) && BigInt(value) !== BigInt(Number(value));
    return whole ? String(BigInt(value)) : String(Number(value));
  };
  const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";  // Python's white space
  const named = [card.missing_values].flat(), auto = named.includes("auto"), further = named.filter(text => text !== "auto");
  const markers = new Set(auto ? ["", "?", "NA", "N/A", "NaN", "null", "None", ...further] : further);
  const absent = value => value === null || value === undefined || Number.isNaN(value);
  const cellOf = (row, name, isText) => ((isText ? further.includes(row[name]) : markers.has(row[name])) ? null : row[name]);

  const ERRORS = ["#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!"];
  const YES = new Set(["yes", "y", "true", "t", "ja", "j", "wahr", "oui", "vrai", "sí", "si", "sì", "verdadero", "vero",
    "sim", "tak"]);
  const NO = new Set(["no", "n", "false", "f", "nein", "falsch", "non", "faux", "falso", "não", "nao", "nee", "nej", "nei",
    "nie"]);

  // Readings: texts become numbers, the words for yes and no, or the parts of a date (docs/messy.md).
  const readings = Object.entries(card.readings || {});
  const numberMarkers = new Set(auto ? [...markers, "n/a", "nan", "NULL", "-", ".", ...ERRORS] : markers);
  const MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december"];
  const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], two = k => String(k).padStart(2, "0");
  const READ = {
    numbers(name, value, {options: [decimal, inUnit], pattern, currency, unit}) {
      if (typeof value !== "string") return {[name]: value};
      const want = `numbers${inUnit ? ` in ${inUnit}` : ""}, as in the first rows`;
      if (!new RegExp(pattern, "u").test(value)) refuse(name, want, JSON.stringify(value));
      let bare = (unit ? value.replace(new RegExp(unit, "u"), "") : value).replace(new RegExp(currency, "gu"), "").replace(/^\((.*)\)$/u, "-$1").replace(/−/gu, "-");
      bare = bare.replace(decimal === "." ? /[^0-9eE+\-.]/gu : /[^0-9eE+\-,]/gu, "");
      return {[name]: Number(decimal === "," ? bare.replace(/,/gu, ".") : bare)};
    },
    times(name, value, {pattern, half_day}) {
      if (typeof value !== "string") return {[name]: value};
      const whole = new RegExp(pattern, "u").exec(value), found = whole || new RegExp(half_day, "u").exec(value);
      if (!found) refuse(name, "times, as in the first rows", JSON.stringify(value));
      const [hour, minute, second] = [1, 2, 3].map(k => Number(found[k] || 0)), later = /p/iu.test(found[4] || "") ? 12 : 0;
      return {[name]: 3600 * (whole ? hour : hour % 12 + later) + 60 * minute + second};
    },
    booleans(name, value, {options: [no, yes]}) {
      const word = String(typeof value === "number" ? value === 1 ? "yes" : value === 0 ? "no" : value : value).toLowerCase();
      if (YES.has(word)) return {[name]: yes};
      if (NO.has(word)) return {[name]: no};
      return refuse(name, "yes or no, as in the first rows", JSON.stringify(value));
    },
    dates(name, value, {options: [, ...parts], pattern, fields}) {
      const micros = value instanceof Date ? value.getTime() * 1e3 : microsOf(String(value), pattern, fields);
      if (Number.isNaN(micros)) refuse(name, "dates, as in the first rows", JSON.stringify(value));
      const time = new Date(Math.floor(micros / 1e3)), month = time.getUTCMonth(), day = (time.getUTCDay() + 6) % 7;
      const spelled = MONTHS[month][0].toUpperCase() + MONTHS[month].slice(1, 3);
      const made = {year: time.getUTCFullYear(), month: `${two(month + 1)} ${spelled}`, weekday: `${day + 1} ${DAYS[day]}`,
        hour: two(time.getUTCHours()), days: micros / 864e8};
      return Object.fromEntries(parts.map(part => [`${name}.${part}`, made[part]]));
    },
  };
  const microsOf = (text, pattern, fields) => {  // since 1970; NaN if the text is no such date
    const found = new RegExp(pattern, "u").exec(text), part = {};
    if (!found) return NaN;
    fields.forEach((field, k) => { part[field] = found[k + 1]; });
    const short = Number(part["short year"]), year = part.year === undefined ? short + (short < 69 ? 2000 : 1900) : Number(part.year);
    const named = part["month name"] && part["month name"].toLowerCase();
    const month = named ? MONTHS.findIndex(one => one === named || one.slice(0, 3) === named) + 1 : Number(part.month);
    const [given, minute, second] = ["hour", "minute", "second"].map(field => Number(part[field] || 0)), day = Number(part.day);
    if (part.half && (given < 1 || given > 12)) return NaN;
    const hour = part.half ? given % 12 + (/p/iu.test(part.half) ? 12 : 0) : given;
    if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59) return NaN;
    const zone = part.zone && part.zone !== "Z" ? part.zone.replace(":", "") : "+0000", sign = zone[0] === "-" ? -1 : 1;
    const away = sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5)));
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);  // unlike Date.UTC, takes the year 24 as it is
    return (date.getTime() + (hour * 60 + minute - away) * 6e4) * 1e3 + Math.round(second * 1e6);
  };
  // Numbers of days and seconds as dates and times, for people.
  const clock = s => `${s < 0 ? "−" : ""}${Math.floor(Math.abs(s) / 3600)}:${two(Math.floor(Math.abs(s) / 60) % 60)}`
    + (s % 60 ? `:${two(Math.round(Math.abs(s) % 60))}` : "");
  const date = (days, timed) => {
    const time = new Date(Math.round(days * 1440) * 6e4);
    return Number.isNaN(time.getTime()) ? days : time.toISOString().slice(0, timed ? 16 : 10).replace("T", " ").replace(" 00:00", "");
  };
  const writers = new Map(readings.flatMap(([name, {kind, options}]) => (kind === "times" ? [[name, clock]]
    : kind === "dates" ? [[`${name}.days`, days => date(days, options.includes("hour"))]] : [])));
  const write = (name, value) => (typeof value === "number" && writers.has(name) ? writers.get(name)(value) : value);
  const TRIM = new RegExp(`^${SPACE}+|${SPACE}+$`, "gu");
  const read = row => {
    if (!readings.length) return row;
    const out = {...row};
    for (const [name, reading] of readings) {
      const value = typeof row[name] === "string" ? row[name].replace(TRIM, "") : row[name];
      out[name] = null;
      if (!absent(value) && !numberMarkers.has(value)) Object.assign(out, READ[reading.kind](name, value, reading));
    }
    return out;
  };

  // Values and intervals of a column, as positions.
  const index = values => new Map(values.values.map((v, k) => [v === null ? null : keyOf(values.kind, v), k]));
  const above = (edges, x, atEdge) => {  // how many edges are below x, or at most x
    let low = 0, high = edges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (edges[middle] < x || (atEdge && edges[middle] === x)) low = middle + 1; else high = middle;
    }
    return low;
  };
  const DOMAINS = {
    any: () => true, finite: Number.isFinite, binary: x => x === 0 || x === 1,
    "not negative": x => Number.isFinite(x) && x >= 0, positive: x => Number.isFinite(x) && x > 0,
  };
  const numberOf = (name, value, domain) => {
    const x = value === "" ? NaN : Number(value);
    if (Number.isNaN(x) || !DOMAINS[domain](x)) refuse(name, `a number (${domain})`, JSON.stringify(value) ?? x);
    return x;
  };

  // log Γ(a + x) − log Γ(a), by Stirling's series from 16 on.
  const rise = (a, x) => {
    let sum = 0;
    for (; a < 16; a++) sum += Math.log(a) - Math.log(a + x);
    const tail = z => (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * z * z)) / (z * z)) / (z * z)) / z;
    return sum + x * Math.log(a) + (a + x - 0.5) * Math.log1p(x / a) - x + tail(a + x) - tail(a);
  };
  const FAR = 1e150;
  const away = (u, p, c) => Math.abs(u - p.location[c] - (p.rest ? p.rest[c] : 0)) * p.scale[c];
  const DENSITIES = {
    linear: (u, p, c) => p.constant[c] + times(u, p.slope[c]),
    lomax: (u, p, c) => p.constant[c] - p.power[c] * Math.log1p(p.scale[c] * u),
    "negative binomial": (u, p, c) => p.size[c] > 0
      ? p.constant[c] + p.slope[c] * u + rise(p.size[c], u) : (u > 0 ? -Infinity : p.constant[c]),
    normal: (u, p, c) => {
      const z = away(u, p, c);
      return z < FAR ? p.constant[c] - z * z : -Infinity;
    },
    student: (u, p, c) => {
      const z = away(u, p, c);
      return p.constant[c] - p.power[c] * (z < FAR ? Math.log1p(z * z) : 2 * Math.log(z));
    },
  };

  // Texts as tokens, with Python's word characters.
  const tokensOf = (options, text) => {
    if (options.lowercase) text = text.toLowerCase();
    if (options.strip_accents) text = text.normalize("NFKD");
    if (options.strip_accents === "ascii") text = text.replace(/[^\0-\x7f]/gu, "");
    if (options.strip_accents === "unicode") text = text.replace(new RegExp(`[${options.combining}]`, "gu"), "");
    const [least, most] = options.ngram_range, found = [];
    if (options.analyzer === "word") {
      const words = (text.match(/[\p{L}\p{N}_]{2,}/gu) || []).filter(word => !options.stop_words.includes(word));
      for (let n = least; n <= most; n++) {
        for (let k = 0; k + n <= words.length; k++) found.push(words.slice(k, k + n).join(" "));
      }
      return found;
    }
    text = text.replace(new RegExp(`${SPACE}{2,}`, "gu"), " ");
    const inside = options.analyzer === "char_wb";
    const runs = inside ? text.split(new RegExp(SPACE, "u")).filter(Boolean).map(word => ` ${word} `) : [text];
    for (const run of runs) {
      const letters = [...run];
      for (let n = least; n <= most; n++) {
        if (n > letters.length) { if (inside) found.push(run); break; }
        for (let k = 0; k + n <= letters.length; k++) found.push(letters.slice(k, k + n).join(""));
        if (inside && n === letters.length) break;
      }
    }
    return found;
  };

  // What each kind of term adds: log for each class, size, whether it is missing, cell for corrections, parts of texts.
  const KINDS = {
    lookup(term) {
      const place = index(term.values), log = term.log.map(down), V = log.length - 1;
      return value => {
        if (absent(value) && card.missing !== "category") return {log: zeros(), size: 0, missing: true};
        const cell = place.get(absent(value) ? null : keyOf(term.values.kind, value)) ?? V;
        if (cell === V && card.unseen === "error") refuse(term.name, "a value seen in training", JSON.stringify(value));
        return {log: log[cell], size: cell < V ? 1 : 0, cell};
      };
    },
    interval(term) {
      const log = term.log.map(down);
      return value => {
        if (absent(value)) return {log: zeros(), size: 0, missing: true};
        const cell = above(term.edges, numberOf(term.name, value, term.domain), true);
        return {log: log[cell], size: 1, cell};
      };
    },
    counts(term) {
      const log = down(term.log);
      return value => {
        const x = absent(value) ? 0 : numberOf(term.name, value, term.domain);
        return {log: log.map(one => times(x, one)), size: x, missing: absent(value)};
      };
    },
    density(term) {
      const p = Object.fromEntries(Object.entries(term.parameters).map(([key, values]) => [key, down(values)]));
      return value => {
        if (absent(value)) return {log: zeros(), size: 0, missing: true};
        const x = numberOf(term.name, value, term.domain), u = term.of_log ? Math.log(x) : x;
        return {log: classes.map((_, c) => DENSITIES[term.form](u, p, c)), size: 1};
      };
    },
    cells(term) {
      const parts = term.parts.map(part => ({...part, place: index(part)})), log = term.log.map(down);
      const slot = (part, value) => {
        if (part.kind === "bins") return absent(value) ? -1 : above(part.values, numberOf(part.column, value, "any"), false);
        if (absent(value) && card.missing !== "category") return -1;
        const other = part.names.length > part.values.length ? part.values.length : -1;
        return part.place.get(absent(value) ? null : partKey(part.kind, value)) ?? other;
      };
      return (_, row) => {
        let cell = 0;
        for (const part of parts) {
          const k = slot(part, cellOf(row, part.column, false));
          if (k < 0) return {log: zeros(), size: 0, missing: true};
          cell = cell * part.names.length + k;
        }
        return {log: log[cell], size: 0};
      };
    },
    tokens(term) {
      const place = new Map(term.vocabulary.map((token, v) => [token, v])), log = term.log.map(down);
      const unknown = term.unknown && down(term.unknown), base = down(term.base), needed = term.needed || [];
      return value => {
        if (absent(value)) return {log: zeros(), size: 0, missing: true, heavy: zeros(), parts: []};
        const counts = new Map();
        for (const token of tokensOf(term.options, String(value))) {
          if (place.has(token) || unknown) counts.set(token, term.distinct ? 1 : (counts.get(token) || 0) + 1);
        }
        const out = {log: base.slice(), size: 0, heavy: zeros(), parts: []};
        for (const [token, n] of counts) {
          const v = place.get(token), one = v === undefined ? unknown : log[v];
          const worth = v === undefined ? term.worth_unknown : term.worth ? term.worth[v] : 1;
          out.size += n;
          out.parts.push({name: token, log: one.map(x => n * x), heavy: one.map(x => n * worth * x)});
          for (let c = 0; c < C; c++) { out.log[c] += n * one[c]; out.heavy[c] += n * worth * one[c]; }
        }
        for (const [v, c] of needed) if (!counts.has(term.vocabulary[v])) out.log[c] = -Infinity;
        return out;
      };
    },
  };
  // Days and microseconds, as products of columns store dates and times.
  const partKey = (kind, value) => {
    const key = keyOf(kind, value);
    return kind === "dates" ? String(Date.parse(key) / 864e5) : kind === "times" ? String(Date.parse(key + "Z") * 1e3) : key;
  };
  const terms = card.terms.map(term => ({...term, evaluate: KINDS[term.kind](term)}));

  const weighted = (term, found) => found.log.map((one, c) => {
    let sum = one === -Infinity ? one : term.weight * one;
    if (term.correction && found.cell < term.correction.cell.length) sum += term.correction.table[term.correction.cell[found.cell]][c];
    return found.missing && term.missing ? sum + term.missing[c] : sum;
  });

  // How the plain and the second sum are mixed, given the length of the row.
  const mixture = (size, touched) => {
    if (calibration.kind === "weights") {
      const m = (Math.max(size - 1, 0) / Math.max(card.columns.length - 1, 1)) ** calibration.fading;
      return {prior: 1, plain: 1 - m, second: m};
    }
    if (calibration.kind === "temperature") {
      const {a, b} = calibration, t = b !== 0 ? (size > 0 ? a * (size + 1) ** b : 1) : touched ? a : 1;
      return {prior: t, plain: t, second: 0};
    }
    if (calibration.kind === "tokens") {
      const {t, b, typical, prior} = calibration, others = Math.max(size - 1, 0), m = others / (others + 2);
      const k = Math.min(t * ((size + 1) / typical) ** b, 1);
      return {prior: Math.max(1 - m + m * (k + prior), 1e-3), plain: 1 - m, second: m * k};
    }
    return {prior: 1, plain: 1, second: 0};
  };

  return given => {
    const row = read(given);
    const found = terms.map(term => {
      const value = cellOf(row, term.name, term.kind === "tokens");
      if (card.missing === "error" && absent(value) && term.kind !== "cells") refuse(term.name, "a value in every row", "a missing one");
      const one = term.evaluate(value, row);
      one.plain = term.kind === "cells" ? one.log.map(x => times(term.factor, x)) : one.log;
      one.second = bias ? weighted(term, one) : one.heavy || one.log;
      return one;
    });
    const size = found.reduce((sum, one) => sum + one.size, 0);
    const plain = logPrior.map((x, c) => found.reduce((sum, one) => sum + one.plain[c], x));
    const mixed = mixture(size, plain.some((x, c) => x !== logPrior[c]));
    const mix = (one, other, c) => (one[c] === -Infinity ? -Infinity : times(mixed.plain, one[c]) + times(mixed.second, other[c]));
    const prior = logPrior.map((x, c) => mixed.prior * x + (bias ? times(mixed.second, bias[c]) : 0));
    const scores = prior.map((x, c) => found.reduce((sum, one) => sum + mix(one.plain, one.second, c), x));
    const most = Math.max(...scores), shares = scores.map((x, c) => Math.exp(most === -Infinity ? logPrior[c] : x - most));
    const total = shares.reduce((sum, x) => sum + x, 0), probabilities = shares.map(x => x / (most === -Infinity ? 1 : total));
    const of = probabilities.indexOf(Math.max(...probabilities));
    // The log-odds of the first class against all others are a sum over terms, the others weighted by their shares.
    const others = scores.map((x, c) => (c === of ? -Infinity : most === -Infinity ? logPrior[c] : x)), next = Math.max(...others);
    const shade = others.map((x, c) => (next === -Infinity ? Number(c !== of) : Math.exp(x - next)));
    const whole = shade.reduce((sum, x) => sum + x, 0), rivals = shade.map(x => (whole > 0 ? x / whole : 0));
    const odds = log => log.reduce((sum, x, c) => sum + (c === of ? x : -times(rivals[c], x)), 0);
    const split = rivals.reduce((sum, w) => sum + (w > 0 ? w * Math.log(w) : 0), 0);  // lost to having several rivals
    const reasons = [{name: "prior", value: "", logOdds: odds(prior) + split}];
    terms.forEach((term, k) => {
      const one = found[k], parts = one.parts && one.parts.map(part => [part.name, odds(part.log.map((_, c) => mix(part.log, part.heavy, c)))]);
      reasons.push({name: term.name, value: write(term.name, row[term.name]), logOdds: odds(one.plain.map((_, c) => mix(one.plain, one.second, c))), parts});
    });
    return {prediction: classes[of], classes, probabilities, scores, reasons};
  };
}
if (typeof module !== "undefined") module.exports = tallyScore;
