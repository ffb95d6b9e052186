import fc from 'fast-check'

const emptyAndInvisible = [
  '',
  ' ',
  '\u0000',
  'a\u0000',
  '\ufffe',
  '\ufeff',
  '\u202etxt',
  '\u2028',
  'e\u0301',
  '\ud800',
  'x\udfff',
]
const almostNumbers = [
  '0',
  '-1',
  '1.5',
  '1e3',
  '1e400',
  '-0',
  '0x10',
  '１',
  '²',
  'NaN',
  'Infinity',
  '99999999999999999999',
  '2147483648',
]
const almostValues = ['null', 'true', '[]', '{}', 'a,b', 'asc', '#12345G', '#123456', 'a@example.com', '🎓']
const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '$ref', '$where']
const code = ["'", '"', '\\', "' OR 1=1 --", "'; DROP TABLE tags; --", '%', '_', '{{7*7}}', '<%= 7 %>', '<script>']
const paths = ['%00', '../../etc/passwd', 'a\r\nX-Header: y']
const ids = ['01900000-0000-7000-8000-000000000000', '00000000-0000-0000-0000-000000000000']

/** Text that a component between the client and the database may misinterpret. */
export const hostileText = fc.oneof(
  fc.constantFrom(...emptyAndInvisible, ...almostNumbers, ...almostValues, ...names, ...code, ...paths, ...ids),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.uuid(),
)

const repeated = fc.constantFrom('x', ' ', '🎓', '\u0000', '9', 'a@', '[', '.')
const longText = fc
  .tuple(repeated, fc.integer({ min: 100, max: 10_000 }), hostileText)
  .map(([unit, count, end]) => unit.repeat(count) + end)

/** Hostile text, sometimes very long. */
export const anyText = fc.oneof({ weight: 4, arbitrary: hostileText }, { weight: 1, arbitrary: longText })

const numbers = [
  '1e400',
  '-1e400',
  '1e308',
  '2147483648',
  '-2147483649',
  '9007199254740993',
  '0.1',
  '-0',
  '1E2',
  '9'.repeat(5_000),
]
const objects = ['null', 'true', '[]', '{}', '[null]', '[[]]', '{"__proto__":{"a":1}}', '{"constructor":{"prototype":1}}']

/** JSON text, because JSON allows numbers and depths that no JavaScript value can have. */
export const anyJson = fc.oneof(
  { weight: 4, arbitrary: anyText.map((text) => JSON.stringify(text)) },
  fc.constantFrom(...numbers),
  fc.constantFrom(...objects),
  fc.integer({ min: 1, max: 15_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.integer({ min: 1, max: 8_000 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.array(anyText, { maxLength: 120 }).map((texts) => JSON.stringify(texts)),
)

/** Percent-encodes byte by byte. Lone surrogates become U+FFFD, as in any client. */
export const percentEncode = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
