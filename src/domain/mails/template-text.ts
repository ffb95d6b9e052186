import MarkdownIt, { type Token } from 'markdown-it'
import { MAX_MARKS } from '../limits.ts'
import { countMarks } from '../text/count-marks.ts'
import type { TemplateKind } from './candidate-mails.ts'

// Template text: a small subset of Markdown with placeholders. Parsed before it is filled in, so that values are always plain text.

const ALWAYS = ['candidate_name', 'assessment', 'organization', 'sender_name'] as const
const BEFORE_START = [...ALWAYS, 'question_count', 'time_limit', 'expires_at', 'expires_in'] as const

/**
 * Placeholders by kind. `message` and `link` become blocks if they stand alone in a paragraph; `link` has to. A started
 * assessment has no expiry; a receipt has no button.
 */
export const PLACEHOLDERS = {
  invitation: [...BEFORE_START, 'message', 'link'],
  not_accepted: [...BEFORE_START, 'link'],
  not_started: [...BEFORE_START, 'link'],
  not_finished: [...ALWAYS, 'question_count', 'time_limit', 'link'],
  submitted: [...ALWAYS, 'submitted_at'],
  released: [...ALWAYS, 'link'],
} as const satisfies Record<TemplateKind, readonly string[]>
export type Placeholder = (typeof PLACEHOLDERS)[TemplateKind][number]

export const placeholdersOf = (kind: TemplateKind): readonly Placeholder[] => PLACEHOLDERS[kind]
/** True if texts of the kind need a button. */
export const hasButton = (kind: TemplateKind): boolean => placeholdersOf(kind).includes('link')
const ALL: readonly Placeholder[] = Object.values(PLACEHOLDERS).flat()

/** Placeholder with the text used if it has no value. */
export type PlaceholderPiece = { placeholder: Placeholder; fallback: string }
export type TemplatePiece =
  | string
  | PlaceholderPiece
  | { strong: readonly TemplatePiece[] }
  | { emphasis: readonly TemplatePiece[] }
  | { link: string; content: readonly TemplatePiece[] }
  | { newLine: true }
export type TemplateBlock =
  | { kind: 'paragraph'; content: readonly TemplatePiece[] }
  | { kind: 'list'; items: readonly (readonly TemplateBlock[])[]; from?: number }

/** A fault, with its line, for the author of the text. */
type Fault = { line: number; text: string }

const WRITTEN = /^\s*([a-z_]+)\s*(?:\|\s*default:\s*"([^"{}]*)"\s*)?$/
const LINK = /^(?:https|mailto):/i
/** Nested deeper than anybody writes. */
const MAX_NESTING = 20

/** Enables only the features below: no HTML, no pictures, no automatic links. */
const reader = new MarkdownIt('zero', { html: false, breaks: true, maxNesting: MAX_NESTING })
  .enable(['paragraph', 'list'])
  .enable(['newline', 'escape', 'emphasis', 'link', 'balance_pairs', 'fragments_join'])
reader.validateLink = (address) => LINK.test(address)
reader.inline.ruler.before('escape', 'hole', (state, silent) => {
  if (!state.src.startsWith('{{', state.pos)) return false
  const end = state.src.indexOf('}}', state.pos)
  const placeholder = end < 0 ? '' : state.src.slice(state.pos + 2, end)
  if (end < 0 || placeholder.includes('\n')) return false
  if (!silent) state.push('hole', '', 0).content = placeholder
  state.pos = end + 2
  return true
})

/**
 * Fault of a body, or null.
 *
 * @param body with a line feed at the end of each line.
 */
export function findTemplateFault(kind: TemplateKind, body: string): string | null {
  if (countMarks(body) > MAX_MARKS)
    return `A text can have at most ${MAX_MARKS.toLocaleString('en')} of the characters * _ | [ and \`.`
  const tokens = reader.parse(body, {})
  const [fault] = tokens.filter(({ type }) => type === 'inline').flatMap((token) => faultsWithin(kind, token))
  if (fault) return `Line ${fault.line}: ${fault.text}`
  if (!hasButton(kind)) return null
  const paragraphs = tokens.flatMap((token, i) => (token.type === 'inline' ? [{ token, isTop: isTop(tokens, i) }] : []))
  const links = paragraphs.filter(({ token }) => placeholdersIn(token).some(({ content }) => nameOf(content) === 'link'))
  const [first, second] = links
  if (!first) return 'The text needs {{ link }} once, in a paragraph of its own: there is the button.'
  const line = (token: Token) => (token.map?.[0] ?? 0) + 1
  if (!first.isTop || first.token.content.replaceAll(/\s/g, '') !== '{{link}}')
    return `Line ${line(first.token)}: {{ link }} has to be a paragraph of its own.`
  return second ? `Line ${line(second.token)}: {{ link }} can be there only once.` : null
}

/** Fault of a subject, or null. */
export function findSubjectFault(kind: TemplateKind, subject: string): string | null {
  const faults = readSubject(kind, subject).flatMap((piece) => ('fault' in piece ? [piece.fault] : []))
  return faults[0] ?? null
}

/** Pieces of a subject; invalid placeholders are left out. */
export const parseSubject = (subject: string): (string | PlaceholderPiece)[] =>
  readSubject(null, subject).flatMap((piece) => ('fault' in piece ? [] : [piece.content]))

type SubjectPiece = { content: string | PlaceholderPiece } | { fault: string }

/** @param kind null: it has been found to be right. */
const readSubject = (kind: TemplateKind | null, subject: string): SubjectPiece[] =>
  subject.split(/(\{\{[^\n]*?\}\})/).map((part, i): SubjectPiece => {
    if (i % 2 === 0) return /\{\{|\}\}/.test(part) ? { fault: UNCLOSED } : { content: part }
    const hole = readHole(part.slice(2, -2))
    if (hole && (hole.placeholder === 'link' || hole.placeholder === 'message'))
      return { fault: `A subject has no {{ ${hole.placeholder} }}.` }
    return hole && isKnown(kind, hole) ? { content: hole } : { fault: unknown(kind, part.slice(2, -2)) }
  })

const UNCLOSED = 'A placeholder is begun or ended, but not both: {{ and }} belong together, on one line.'
const unknown = (kind: TemplateKind | null, source: string): string =>
  `{{ ${source.trim().slice(0, 60)} }} is no placeholder of this text. There are ${knownIn(kind).join(', ')}, each alone or as {{ candidate_name | default: "there" }}.`
const knownIn = (kind: TemplateKind | null): readonly Placeholder[] => (kind === null ? ALL : placeholdersOf(kind))
const isKnown = (kind: TemplateKind | null, { placeholder: hole }: PlaceholderPiece): boolean => knownIn(kind).includes(hole)

function readHole(source: string): PlaceholderPiece | null {
  const [, name, otherwise = ''] = WRITTEN.exec(source) ?? []
  const hole = ALL.find((one) => one === name)
  return hole ? { placeholder: hole, fallback: otherwise } : null
}
const nameOf = (source: string): string | undefined => readHole(source)?.placeholder

const placeholdersIn = ({ children }: Token): Token[] => (children ?? []).filter(({ type }) => type === 'hole')

/** Faults of one paragraph. */
function faultsWithin(kind: TemplateKind, { children, map }: Token): Fault[] {
  let line = (map?.[0] ?? 0) + 1
  return (children ?? []).flatMap((token): Fault[] => {
    if (token.type === 'softbreak' || token.type === 'hardbreak') line++
    const text = faultOf(kind, token)
    return text === null ? [] : [{ line, text }]
  })
}

function faultOf(kind: TemplateKind, token: Token): string | null {
  const { type, content } = token
  const hole = type === 'hole' ? readHole(content) : null
  if (type === 'hole') return hole && isKnown(kind, hole) ? null : unknown(kind, content)
  if (type === 'link_open' && /\{|%7B/i.test(String(token.attrGet('href')))) return 'No placeholder can be part of an address.'
  return /\{\{|\}\}/.test(content) ? UNCLOSED : null
}

/** True for a paragraph at the top level. */
const isTop = (tokens: Token[], i: number): boolean => tokens[i - 1]?.level === 0

/** A body that has no fault, as blocks. */
export const parseTemplate = (body: string): TemplateBlock[] => blocks(reader.parse(body, {}))

/** The tokens between an opening one and its closing one are one block. */
function blocks(tokens: readonly Token[]): TemplateBlock[] {
  const result: TemplateBlock[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    const end = token.nesting === 1 ? closingOf(tokens, at) : at
    const innerTokens = tokens.slice(at + 1, end)
    if (token.type === 'paragraph_open') result.push({ kind: 'paragraph', content: pieces(innerTokens[0]?.children ?? []) })
    if (token.type === 'bullet_list_open') result.push({ kind: 'list', items: itemsOf(innerTokens) })
    if (token.type === 'ordered_list_open')
      result.push({ kind: 'list', items: itemsOf(innerTokens), from: Number(token.attrGet('start') ?? 1) })
    at = end
  }
  return result
}

function itemsOf(tokens: readonly Token[]): TemplateBlock[][] {
  const items: TemplateBlock[][] = []
  for (let at = 0; at < tokens.length; at++) {
    const end = closingOf(tokens, at)
    items.push(blocks(tokens.slice(at + 1, end)))
    at = end
  }
  return items
}

function closingOf(tokens: readonly Token[], at: number): number {
  let depth = 0
  for (let i = at; i < tokens.length; i++) {
    depth += tokens[i]!.nesting
    if (depth === 0) return i
  }
  return tokens.length
}

function pieces(tokens: readonly Token[]): TemplatePiece[] {
  const result: TemplatePiece[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    const end = token.nesting === 1 ? closingOf(tokens, at) : at
    const piece = toPiece(token, tokens.slice(at + 1, end))
    if (piece !== '') result.push(piece)
    at = end
  }
  return result
}

function toPiece(token: Token, innerTokens: readonly Token[]): TemplatePiece {
  switch (token.type) {
    case 'hole':
      return readHole(token.content) ?? ''
    case 'softbreak':
    case 'hardbreak':
      return { newLine: true }
    case 'strong_open':
      return { strong: pieces(innerTokens) }
    case 'em_open':
      return { emphasis: pieces(innerTokens) }
    case 'link_open':
      return { link: String(token.attrGet('href') ?? ''), content: pieces(innerTokens) }
    default:
      return token.content
  }
}
