const MARKUP = Symbol('markup')

/** HTML that `html` has created. Nothing else is printed unescaped. */
export type Html = { readonly [MARKUP]: string }

/** Text and numbers are escaped, lists are joined. `false`, `null`, and `undefined` print nothing. */
export type Value = Html | string | number | false | null | undefined | readonly Value[]

/** Position of a value: in text, in a quoted attribute, in an attribute with an address, or as a boolean attribute (`checked`). */
type Place = 'text' | 'attribute' | 'address' | 'name'

/** Attributes in which `javascript:` would run. */
const ADDRESS_ATTRIBUTES = new Set(['href', 'src', 'action', 'formaction'])
/** Relative addresses, and these schemes. Others are replaced by `#`. */
const SAFE_ADDRESS = /^(?:$|[/?#]|\.\.?\/|https?:|mailto:)/i
/** Attributes that contain code. */
const FORBIDDEN_ATTRIBUTE = /^(?:on.*|style|srcdoc)$/
/**
 * Elements whose content is not parsed as markup. In text-only elements, escaped characters are decoded, so values are allowed. <noscript> needs
 * no entry: browsers that read its content parse it as markup, and escaped text can't close it.
 */
const RAW_ELEMENTS = new Set(['script', 'style', 'textarea', 'title', 'iframe'])
const TEXT_ELEMENTS = new Set(['textarea', 'title'])

const places = new WeakMap<TemplateStringsArray, Place[]>()

/**
 * Template tag that escapes values. Values are allowed in text, in double-quoted attributes, and as a boolean attribute in a tag:
 * html`<input ${isOn && html`checked`}>`.
 *
 * @throws Error on the first use of a template with a value elsewhere (in a script, a comment, an unquoted attribute), or that ends inside a
 *   tag.
 */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  const cachedPlaces = places.get(strings) ?? findPlaces(strings)
  places.set(strings, cachedPlaces)
  let text = strings[0]!
  for (const [i, place] of cachedPlaces.entries()) text += print(values[i], place) + strings[i + 1]
  return { [MARKUP]: text }
}

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
  return place === 'address' && !SAFE_ADDRESS.test(text) ? '#' : escapeText(text)
}

/** Attribute names must come from templates, never from text. */
function printName(value: Html | string | number): string {
  const name = typeof value === 'object' ? value[MARKUP] : ''
  if (!/^[a-z-]+$/.test(name)) throw new Error('Only the name of an attribute can stand in a tag, as html`checked`')
  return name
}

const isList = (value: Value): value is readonly Value[] => Array.isArray(value)

/** State of the scanner that finds the positions of values. */
type Scan = {
  at: 'text' | 'opening' | 'declaration' | 'element' | 'tag' | 'attribute' | 'equals' | 'value'
  /** Name of the current tag, with a leading slash for a closing tag. */
  element: string
  /** Latest attribute, and characters of its value so far. */
  attribute: string
  valueLength: number
  /** True after white space in a tag, where an attribute may begin. */
  isAfterSpace: boolean
  /** Enclosing raw element; empty outside. */
  raw: string
}

function findPlaces(strings: TemplateStringsArray): Place[] {
  const scan: Scan = { at: 'text', element: '', attribute: '', valueLength: 0, isAfterSpace: false, raw: '' }
  const found: Place[] = []
  for (const [i, part] of strings.entries()) {
    for (const character of part) if (!readers[scan.at](scan, character)) throw refusal(part)
    if (i === strings.length - 1) break
    const place = currentPlace(scan)
    if (!place) throw refusal(part)
    scan.valueLength++
    scan.isAfterSpace = false
    found.push(place)
  }
  if (scan.at !== 'text' || scan.raw) throw refusal(strings.at(-1)!)
  return found
}

const refusal = (part: string) => new Error(`This is no template, or has a value where none may stand: …${part.slice(-80)}`)

function currentPlace({ at, raw, attribute, valueLength, isAfterSpace }: Scan): Place | undefined {
  if (at === 'text') return raw === '' || TEXT_ELEMENTS.has(raw) ? 'text' : undefined
  if (at === 'tag') return isAfterSpace ? 'name' : undefined
  if (at !== 'value' || FORBIDDEN_ATTRIBUTE.test(attribute)) return undefined
  return ADDRESS_ATTRIBUTES.has(attribute) && valueLength === 0 ? 'address' : 'attribute'
}

/** Transitions by state. @returns false for a character that is not allowed. */
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
    scan.isAfterSpace = /\s/.test(character)
    scan.at = scan.isAfterSpace ? 'tag' : 'attribute'
    scan.attribute = character.toLowerCase()
    return scan.isAfterSpace || /[a-z]/i.test(character)
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
    if (character === '"') Object.assign(scan, { at: 'tag', isAfterSpace: false })
    return true
  },
}

function endTag(scan: Scan): boolean {
  scan.at = 'text'
  if (scan.raw) {
    if (scan.element === `/${scan.raw}`) scan.raw = ''
  } else if (RAW_ELEMENTS.has(scan.element)) scan.raw = scan.element
  return true
}
