/**
 * A message that compile.ts has compiled from ICU's format: text, or a list of parts. A part is text, a value (as text or number), a plural or
 * select with a message for each case, or a tag with its content. `[]` is the number of the enclosing plural.
 */
export type Message = string | readonly Part[]
export type Part =
  | string
  | readonly []
  | readonly [name: string, as?: undefined, within?: undefined]
  | readonly [name: string, as: 'number', within?: undefined]
  | readonly [name: string, as: 'plural' | 'select', cases: Readonly<Record<string, Message>>]
  | readonly [tag: string, as: 'tag', within: Message]

type Values = Readonly<Record<string, unknown>>
type Tag = (within: unknown[]) => unknown
/** Inserts values into a message. @returns text, or a list of parts if a value is an object, such as markup. */
type Format = (message: Message, values: Values, count?: number) => unknown

/** @param language code, for plurals and numbers. */
export function createFormat(language: string): Format {
  const plurals = new Intl.PluralRules(language)
  const numbers = new Intl.NumberFormat(language)
  const format: Format = (message, values, count = 0) => {
    if (typeof message === 'string') return message
    const parts = message.map((part) => (typeof part === 'string' ? part : fill(part, values, count)))
    return parts.some((part) => typeof part === 'object') ? parts.flat() : parts.join('')
  }
  const fill = (part: Exclude<Part, string>, values: Values, count: number): unknown => {
    if (part.length === 0) return numbers.format(count)
    const [name, as, within] = part
    const value = values[name]
    if (as === undefined) return value
    if (as === 'number') return numbers.format(Number(value))
    if (as === 'tag') return (value as Tag)([format(within, values, count)].flat())
    if (as === 'select') return format(within[String(value)] ?? within.other!, values, count)
    const number = Number(value)
    return format(within[`=${number}`] ?? within[plurals.select(number)] ?? within.other!, values, number)
  }
  return format
}
