import { decodeHTML } from 'entities'
import type { FindPicture } from './question-files.ts'

// HTML of question files as plain text, or as Markdown if it has formatting. Nothing of it is ever shown as HTML.

const TOKENS = /<!--[\s\S]*?-->|<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:"[^"]*"|'[^']*'|[^<>"'])*)>|[^<]+|</g
const MARKS = new Map(Object.entries({ b: '**', strong: '**', i: '*', em: '*' }))
const BLOCKS = new Set(['p', 'div', 'ul', 'ol', 'table', 'blockquote', 'pre', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'section'])
const LINES = new Set(['br', 'li', 'tr'])
const CODE = new Set(['code', 'pre'])
const CELLS = new Set(['td', 'th'])
/** Tags with an effect on the text. The others are ignored. */
const EFFECTIVE = new Set([...MARKS.keys(), ...BLOCKS, ...LINES, ...CODE, ...CELLS, 'img'])
const LOST = new Map(
  Object.entries({
    a: 'The address of a link is left out.',
    audio: 'Audio is left out.',
    video: 'Video is left out.',
    iframe: 'Embedded content is left out.',
    object: 'Embedded content is left out.',
    table: 'A table is taken as lines of text.',
    sup: 'Raised and lowered characters are taken as plain ones.',
    sub: 'Raised and lowered characters are taken as plain ones.',
  }),
)
const ITEMS = new Map(Object.entries({ ol: '1. ', ul: '- ' }))
const HIDDEN = new Set(['script', 'style', 'head', 'title'])

export type HtmlText = { text: string; isFormatted: boolean; losses: string[] }

const FORMATTED = /<(b|strong|i|em|code|li|h[1-6]|pre)[\s>]/i
const FORMATTING_LOST = 'Formatting of answers is left out.'

/** Formulas in TeX as Moodle marks them: `\(x\)` within a text, `\[x\]` and `$$x$$` as a paragraph. Longer ones are shown as they are written. */
const FORMULA = /\\\(([^\n]{1,1000}?)\\\)|\\\[([\s\S]{1,1000}?)\\\]|\$\$([\s\S]{1,1000}?)\$\$/
const FORMULAS = new RegExp(FORMULA, 'g')

/** True if a text has tags of HTML, rather than signs such as `a < b`, or formulas of Moodle. */
export const hasTags = (text: string): boolean =>
  /<\/(p|b|i|em|strong|span|div|li|ul|ol|code|pre|sup|sub|u|a|td|h\d)\s*>|<(br|img)\b[^<>]*>/i.test(text) || FORMULA.test(text)

/** @param plain true to leave formatting out: options and other answers are plain texts, which may have pictures. */
export function readHtml(html: string, findPicture: FindPicture, { plain = false } = {}): HtmlText {
  const hasFormat = FORMATTED.test(html) || FORMULA.test(html)
  const isFormatted = hasFormat && !plain
  const losses = new Set(hasFormat && plain ? [FORMATTING_LOST] : [])
  const writer: Writer = {
    ...{ text: '', pending: '', isLineStart: true, item: '', isInItem: false, code: undefined },
    ...{ depths: new Map<string, number>(), marks: [], writtenMarks: [], losses, isFormatted, findPicture },
  }
  writeTokens(writer, html)
  if (writer.code) writeCode(writer, writer.code)
  else writeText(writer)
  writeMarks(writer, [])
  return { text: writer.text.trim(), isFormatted, losses: [...writer.losses] }
}

/**
 * @property pending text up to the next tag with an effect.
 * @property item mark of the items of the current list.
 * @property code the open `code` or `pre`, whose tags are ignored.
 * @property depths number of open tags by mark.
 * @property marks open marks.
 * @property writtenMarks open marks that are already in the text.
 */
type Writer = {
  text: string
  pending: string
  isLineStart: boolean
  item: string
  isInItem: boolean
  code: string | undefined
  depths: Map<string, number>
  marks: string[]
  writtenMarks: string[]
  losses: Set<string>
  isFormatted: boolean
  findPicture: FindPicture
}

function writeTokens(writer: Writer, html: string): void {
  let hidden: string | undefined
  for (const [token, slash, name, attributes = ''] of html.matchAll(TOKENS)) {
    const tag = name?.toLowerCase()
    const isEnd = slash === '/'
    if (hidden !== undefined) hidden = isEnd && tag === hidden ? undefined : hidden
    else if (tag !== undefined && HIDDEN.has(tag) && !isEnd) hidden = tag
    else if (tag !== undefined) writeTag(writer, { tag, isEnd, attributes })
    else if (!token.startsWith('<!--')) writer.pending += token
  }
}

function writeText(writer: Writer): void {
  const plain = takePending(writer).replace(/[\s\u00a0]+/g, ' ')
  if (!writer.isFormatted) writer.text += plain
  else if (plain === ' ') writeSpace(writer)
  else if (plain !== '') append(writer, toMarkdown(plain.trimStart(), writer.isLineStart), plain.startsWith(' '))
  if (plain.trim() !== '') writer.isLineStart = false
}

function writeSpace(writer: Writer): void {
  if (!writer.isLineStart && !writer.text.endsWith(' ')) writer.text += ' '
}

function takePending(writer: Writer): string {
  const text = decodeHTML(writer.pending)
  writer.pending = ''
  return text
}

/** @param hasSpace true for a space before the text. */
function append(writer: Writer, text: string, hasSpace = false): void {
  if (hasSpace) writeSpace(writer)
  writeMarks(writer, writer.marks)
  writer.text += text
  writer.isLineStart = false
}

/** Closes and opens marks of bold and italic texts. There is no space between a mark and its text. */
function writeMarks(writer: Writer, marks: string[]): void {
  const same = writer.writtenMarks.findIndex((mark, i) => mark !== marks[i])
  const commonLength = same < 0 ? writer.writtenMarks.length : same
  const closing = writer.writtenMarks.slice(commonLength).toReversed().join('')
  if (closing !== '') {
    const text = writer.text.trimEnd()
    writer.text = text + closing + writer.text.slice(text.length)
  }
  writer.text += marks.slice(commonLength).join('')
  writer.writtenMarks = [...marks]
}

/** Keeps formulas, and escapes everything else. */
function toMarkdown(plain: string, isLineStart: boolean): string {
  let text = ''
  let at = 0
  for (const { index, 0: whole, 1: inline, 2: block, 3: dollars } of plain.matchAll(FORMULAS)) {
    const tex = (inline ?? block ?? dollars)!.trim()
    // Its signs would end it earlier.
    if (tex === '' || tex.includes('$') || tex.endsWith('\\')) continue
    const end = index + whole.length
    // “$x$5” is no formula.
    const sign = inline === undefined || /\d/.test(plain[end] ?? '') ? '$$' : '$'
    text += escapeMarkdown(plain.slice(at, index), isLineStart && at === 0) + sign + tex + sign
    at = end
  }
  return text + escapeMarkdown(plain.slice(at), isLineStart && at === 0)
}

type Tag = { tag: string; isEnd: boolean; attributes: string }

function writeTag(writer: Writer, tag: Tag): void {
  if (writer.code === undefined) writeTagInText(writer, tag)
  else writeTagInCode(writer, writer.code, tag)
}

function writeTagInText(writer: Writer, { tag, isEnd, attributes }: Tag): void {
  const lost = isEnd ? undefined : LOST.get(tag)
  if (lost) writer.losses.add(lost)
  if (!EFFECTIVE.has(tag)) return
  writeText(writer)
  writer.item = ITEMS.get(tag) ?? writer.item
  const mark = MARKS.get(tag)
  if (mark) changeMarks(writer, mark, isEnd)
  else if (writer.isFormatted && CODE.has(tag) && !isEnd) writer.code = tag
  else if (tag === 'img') writePicture(writer, attributes)
  else if (BLOCKS.has(tag)) breakLine(writer, writer.isFormatted ? 2 : 1)
  else if (LINES.has(tag)) writeLine(writer, tag, isEnd)
  else if (CELLS.has(tag) && isEnd) writeSpace(writer)
}

function writeTagInCode(writer: Writer, code: string, { tag, isEnd }: Tag): void {
  if (tag === code && isEnd) writeCode(writer, code)
  else if (tag === 'br') writer.pending += '\n'
  else if (tag === 'img') writer.losses.add('A picture is left out.')
}

function changeMarks(writer: Writer, mark: string, isEnd: boolean): void {
  const depth = (writer.depths.get(mark) ?? 0) + (isEnd ? -1 : 1)
  if (!writer.isFormatted || depth < 0) return
  writer.depths.set(mark, depth)
  if (depth === 0) writer.marks = writer.marks.filter((openMark) => openMark !== mark)
  else if (!writer.marks.includes(mark)) writer.marks = [...writer.marks, mark]
}

/** Code as it is written, between more backticks than it has. */
function writeCode(writer: Writer, tag: string): void {
  const text = takePending(writer).replaceAll('\u00a0', ' ')
  writer.code = undefined
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  if (text.trim() === '') return
  if (tag === 'pre') {
    const fence = '`'.repeat(Math.max(3, longest + 1))
    breakLine(writer, 2)
    writer.text += `${fence}\n${text.replace(/^\r?\n/, '').trimEnd()}\n${fence}`
    breakLine(writer, 2)
  } else {
    const code = text.replace(/\s+/g, ' ').trim()
    const [fence, space] = ['`'.repeat(longest + 1), /^`|`$/.test(code) ? ' ' : '']
    append(writer, fence + space + code + space + fence, /^\s/.test(text))
    if (/\s$/.test(text)) writeSpace(writer)
  }
}

function writeLine(writer: Writer, tag: string, isEnd: boolean): void {
  if (tag === 'li') writer.isInItem = !isEnd
  if (isEnd && tag !== 'tr') return
  // An empty line would end the item of a list.
  breakLine(writer, tag === 'br' && writer.isLineStart && !writer.isInItem ? 2 : 1)
  if (tag === 'li') writer.text += writer.item
}

/** Marks don't reach beyond a paragraph: they are opened again in the next. */
function breakLine(writer: Writer, breaks: number): void {
  writeMarks(writer, [])
  const text = writer.text.trimEnd()
  writer.text = text === '' ? '' : `${text}${'\n'.repeat(breaks)}`
  writer.isLineStart = true
}

/** @param isLineStart true if signs of lists, tables, and fences have to be escaped. */
function escapeMarkdown(text: string, isLineStart = false): string {
  const escaped = text.replace(/[\\`*_[\]<>#$]|&(?=#?\w|$)/g, '\\$&')
  return isLineStart ? escaped.replace(/^(?=[-+~|:](?:[-~|:\s]|$))/, '\\').replace(/^(\d{1,9})(?=[.)](?:\s|$))/, '$1\\') : escaped
}

function writePicture(writer: Writer, attributes: string): void {
  const [source, alt] = [attributeOf(attributes, 'src'), attributeOf(attributes, 'alt')]
  const picture = writer.findPicture(source, alt)
  if (picture === null)
    writer.losses.add(/^https?:/i.test(source) ? `A picture is left out: ${source.slice(0, 200)}` : 'A picture is left out.')
  if (writer.isFormatted) append(writer, picture ?? escapeMarkdown(alt))
  else writer.text += picture ?? alt
}

function attributeOf(attributes: string, name: 'src' | 'alt'): string {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(attributes)
  return decodeHTML(found?.[1] ?? found?.[2] ?? '')
}
