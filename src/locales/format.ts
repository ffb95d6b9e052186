/**
 * A message as compile.ts makes it from ICU's format: text, or its parts in their order. A part is text, or what is put there: a value by its
 * name, as it is or as a number; one of several messages, by a value's plural or the value itself; what stands between a tag. In a plural `[]`
 * is its number.
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
/** Puts values into messages. What is no text, such as markup, stays what it is: then the parts are a list. */
type Format = (message: Message, values: Values, count?: number) => unknown

/** @param language whose plurals and numbers they have. */
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
