const MARKUP = Symbol('markup')

/** A piece of HTML that `html` has made: nothing else is taken for markup. */
export type Html = { readonly [MARKUP]: string }

/** Text and numbers are escaped, lists joined; `false`, `null` and `undefined` print nothing. */
export type Value = Html | string | number | false | null | undefined | readonly Value[]

/** Where a value stands: in text, in the quotes of an attribute, or as the name of one that needs no value (`checked`). */
type Place = 'text' | 'attribute' | 'address' | 'name'

/** Attributes whose value is an address: a script's would be run. */
const ADDRESSES = new Set(['href', 'src', 'action', 'formaction'])
/** An address of our own, that of a file beside, or of one of these schemes. */
const HARMLESS = /^(?:$|[/?#]|\.\.?\/|https?:|mailto:)/i
/** What a browser would read as code. */
const FORBIDDEN_ATTRIBUTE = /^(?:on.*|style|srcdoc)$/
/**
 * Elements whose content is no markup; those of them whose content is only text, in which escaped characters are what they were. A
 * <noscript> holds markup where it is read at all, and nothing escaped can end it.
 */
const RAW = new Set(['script', 'style', 'textarea', 'title', 'iframe'])
const HOLDS_TEXT = new Set(['textarea', 'title'])

const places = new WeakMap<TemplateStringsArray, Place[]>()

/**
 * A template whose values can't become markup. They may stand in text, in double-quoted attributes, and in a tag as the bare name of an
 * attribute, by a template of its own: html`<input ${isOn && html`checked`}>`.
 *
 * @throws Error, the first time, for a template with a value anywhere else (a script, a comment, an unquoted attribute), or that ends in
 *   the middle of a tag.
 */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  const known = places.get(strings) ?? findPlaces(strings)
  places.set(strings, known)
  let text = strings[0]!
  for (const [i, place] of known.entries()) text += print(values[i], place) + strings[i + 1]
  return { [MARKUP]: text }
}

/** The text of a page. */
export const toText = (page: Html): string => page[MARKUP]

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)

function print(value: Value, place: Place): string {
  if (value === undefined || value === null || value === false) return ''
  if (isList(value)) return value.map((item) => print(item, place)).join('')
  if (place === 'name') return printName(value)
  if (typeof value === 'object') {
    if (place !== 'text') throw new Error('Markup can not stand in an attribute')
    return value[MARKUP]
  }
  const text = String(value)
  return place === 'address' && !HARMLESS.test(text) ? '#' : escapeText(text)
}

/** Names come from templates only, never from text. */
function printName(value: Html | string | number): string {
  const name = typeof value === 'object' ? value[MARKUP] : ''
  if (!/^[a-z-]+$/.test(name)) throw new Error('Only the name of an attribute can stand in a tag, as html`checked`')
  return name
}

const isList = (value: Value): value is readonly Value[] => Array.isArray(value)

/** Where in a template its reader is. */
type Scan = {
  at: 'text' | 'opening' | 'declaration' | 'element' | 'tag' | 'attribute' | 'equals' | 'value'
  /** The element whose tag it is, with a slash before it of a closing tag. */
  element: string
  /** The attribute that was read last, and how much of its value. */
  attribute: string
  valueLength: number
  /** Whether only white space is between here and what was before in the tag. */
  isApart: boolean
  /** The element whose content is no markup, while in it. */
  raw: string
}

function findPlaces(strings: TemplateStringsArray): Place[] {
  const scan: Scan = { at: 'text', element: '', attribute: '', valueLength: 0, isApart: false, raw: '' }
  const found: Place[] = []
  for (const [i, part] of strings.entries()) {
    for (const character of part) if (!readers[scan.at](scan, character)) throw refusal(part)
    if (i === strings.length - 1) break
    const place = placeHere(scan)
    if (!place) throw refusal(part)
    scan.valueLength++
    scan.isApart = false
    found.push(place)
  }
  if (scan.at !== 'text' || scan.raw) throw refusal(strings.at(-1)!)
  return found
}

const refusal = (part: string) => new Error(`This is no template, or has a value where none may stand: …${part.slice(-80)}`)

function placeHere({ at, raw, attribute, valueLength, isApart }: Scan): Place | undefined {
  if (at === 'text') return raw === '' || HOLDS_TEXT.has(raw) ? 'text' : undefined
  if (at === 'tag') return isApart ? 'name' : undefined
  if (at !== 'value' || FORBIDDEN_ATTRIBUTE.test(attribute)) return undefined
  return ADDRESSES.has(attribute) && valueLength === 0 ? 'address' : 'attribute'
}

/** What the next character does, by where it stands. @returns false when it may not stand there. */
const readers: Record<Scan['at'], (scan: Scan, character: string) => boolean> = {
  text(scan, character) {
    if (character === '<') scan.at = 'opening'
    return true
  },
  opening(scan, character) {
    scan.at = character === '!' ? 'declaration' : 'element'
    scan.element = character.toLowerCase()
    return /[a-z/!]/i.test(character)
  },
  declaration(scan, character) {
    if (character === '>') scan.at = 'text'
    return character !== '-' // a comment
  },
  element(scan, character) {
    if (/[\s>]/.test(character)) return readers.tag(scan, character)
    scan.element += character.toLowerCase()
    return /[\w-]/.test(character)
  },
  tag(scan, character) {
    if (character === '>') return endTag(scan)
    scan.isApart = /\s/.test(character)
    scan.at = scan.isApart ? 'tag' : 'attribute'
    scan.attribute = character.toLowerCase()
    return scan.isApart || /[a-z]/i.test(character)
  },
  attribute(scan, character) {
    if (/[\s>]/.test(character)) return readers.tag(scan, character)
    if (character === '=') scan.at = 'equals'
    else scan.attribute += character.toLowerCase()
    return /[\w:=-]/.test(character)
  },
  equals(scan, character) {
    scan.at = 'value'
    scan.valueLength = 0
    return character === '"'
  },
  value(scan, character) {
    scan.valueLength++
    if (character === '"') Object.assign(scan, { at: 'tag', isApart: false })
    return true
  },
}

function endTag(scan: Scan): boolean {
  scan.at = 'text'
  if (scan.raw) {
    if (scan.element === `/${scan.raw}`) scan.raw = ''
  } else if (RAW.has(scan.element)) scan.raw = scan.element
  return true
}
