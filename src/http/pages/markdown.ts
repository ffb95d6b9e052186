import MarkdownIt, { type Token } from 'markdown-it'
import { withoutPictures } from '../../domain/assets/references.ts'
import { MAX_MARKS } from '../../domain/limits.ts'
import { countMarks } from '../../domain/text/count-marks.ts'
import { type Html, html } from '../../html/html.ts'
import { readFormulas, renderFormula } from './formulas.ts'
import { highlightCode } from './highlight.ts'
import { noPictures, type Pictures, picturesAsText, renderPicture } from './pictures.ts'

/** Addresses that become links. */
const LINK = /^(?:https:|mailto:)/i

/** Only these rules are enabled: no HTML, no headings, no autolinks. */
const reader = new MarkdownIt('zero', { html: false, breaks: true })
  .enable(['paragraph', 'list', 'blockquote', 'fence', 'table'])
  .enable(['newline', 'escape', 'entity', 'backticks', 'emphasis', 'link', 'image', 'balance_pairs', 'fragments_join'])
readFormulas(reader)
reader.validateLink = (address) => LINK.test(address) || address.startsWith('asset:')

/**
 * Renders Markdown of users: paragraphs, emphasis, lists, quotes, code, tables, links, and formulas. Each token becomes an element by html``, so an
 * author's markup never becomes part of a page. Pictures of other origins are replaced by their alternative texts.
 *
 * @param language code; null if unknown. @param pictures pictures that may be shown.
 */
export function fromMarkdown(text: string, language: string | null = null, pictures: Pictures = noPictures): Html {
  // Questions with so many marks can't be saved, but an imported one is previewed as plain text.
  if (countMarks(text) > MAX_MARKS) return html`<p class="script" lang="${language ?? ''}" dir="auto">${text}</p>`
  const tokens = reader.parse(text, {})
  return html`<div class="space-y-3" lang="${language ?? ''}" dir="auto">${blocks(tokens, pictures)}</div>`
}

/** Tokens between an opening and its closing token become one element. */
function blocks(tokens: Token[], pictures: Pictures): Html[] {
  const elements: Html[] = []
  for (let position = 0; position < tokens.length; position++) {
    const token = tokens[position]!
    const end = token.nesting === 1 ? closingOf(tokens, position) : position
    elements.push(token.nesting === 1 ? element(token, blocks(tokens.slice(position + 1, end), pictures)) : leaf(token, pictures))
    position = end
  }
  return elements
}

function closingOf(tokens: Token[], opening: number): number {
  let depth = 0
  for (let i = opening; i < tokens.length; i++) {
    depth += tokens[i]!.nesting
    if (depth === 0) return i
  }
  return tokens.length
}

function element(token: Token, children: Html[]): Html {
  switch (token.type) {
    case 'paragraph_open':
      return token.hidden ? html`${children}` : html`<p>${children}</p>`
    case 'bullet_list_open':
      return html`<ul class="list-disc space-y-1 ps-6">${children}</ul>`
    case 'ordered_list_open':
      return html`<ol class="list-decimal space-y-1 ps-6" start="${token.attrGet('start') ?? 1}">${children}</ol>`
    case 'list_item_open':
      return html`<li>${children}</li>`
    case 'blockquote_open':
      return html`<blockquote class="border-base-300 border-s-4 ps-4">${children}</blockquote>`
    case 'table_open':
      return html`<div class="overflow-x-auto" tabindex="0"><table class="table">${children}</table></div>`
    case 'thead_open':
      return html`<thead>${children}</thead>`
    case 'tbody_open':
      return html`<tbody>${children}</tbody>`
    case 'tr_open':
      return html`<tr>${children}</tr>`
    case 'th_open':
      return html`<th scope="col">${children}</th>`
    case 'td_open':
      return html`<td>${children}</td>`
    case 'strong_open':
      return html`<strong>${children}</strong>`
    case 'em_open':
      return html`<em>${children}</em>`
    case 'link_open':
      return link(String(token.attrGet('href') ?? ''), children)
    default:
      return html`${children}`
  }
}

const link = (address: string, children: Html[]): Html =>
  LINK.test(address)
    ? html`<a class="link" href="${address}" rel="noreferrer" target="_blank">${children}</a>`
    : html`${children}`

function leaf(token: Token, pictures: Pictures): Html {
  switch (token.type) {
    case 'inline':
      return html`${blocks(token.children ?? [], pictures)}`
    case 'image':
      return renderPicture(pictures, String(token.attrGet('src') ?? ''), token.content)
    case 'fence':
      return html`<pre class="bg-base-200 rounded-field overflow-x-auto p-3 text-sm font-normal" tabindex="0"><code>${highlightCode(token.content, token.info)}</code></pre>`
    case 'formula':
    case 'formula_block':
      return renderFormula(token.content, { isBlock: token.type === 'formula_block' })
    case 'code_inline':
      return html`<code class="bg-base-200 rounded-field px-1 text-[0.9em]">${token.content}</code>`
    case 'softbreak':
    case 'hardbreak':
      return html`<br>`
    default:
      return html`${token.content}`
  }
}

/** Converts Markdown to plain text: pictures become their alternative texts, and links are followed by their addresses. */
export function markdownToText(text: string): string {
  if (countMarks(text) > MAX_MARKS) return withoutPictures(text)
  const lists: (number | null)[] = []
  const pieces: string[] = []
  for (const token of reader.parse(text, {})) pieces.push(plainBlock(token, lists))
  return pieces
    .join('')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** @param lists enclosing lists: number of the next item, or null for bullets. */
function plainBlock(token: Token, lists: (number | null)[]): string {
  switch (token.type) {
    case 'bullet_list_open':
    case 'ordered_list_open':
      lists.push(token.type === 'ordered_list_open' ? Number(token.attrGet('start') ?? 1) : null)
      return ''
    case 'bullet_list_close':
    case 'ordered_list_close':
      lists.pop()
      return lists.length === 0 ? '\n' : ''
    case 'list_item_open': {
      const number = lists.at(-1) ?? null
      if (number !== null) lists[lists.length - 1] = number + 1
      return `${'   '.repeat(lists.length - 1)}${number === null ? '•' : `${number}.`} `
    }
    case 'paragraph_close':
      return token.hidden ? '\n' : '\n\n'
    case 'th_close':
    case 'td_close':
      return '\t'
    case 'tr_close':
    case 'table_close':
      return '\n'
    case 'fence':
      return `${token.content}\n`
    case 'inline':
      return plainInline(token.children ?? [])
    default:
      return ''
  }
}

function plainInline(tokens: Token[]): string {
  let text = ''
  let link = { address: '', from: 0 }
  for (const token of tokens) {
    if (token.type === 'link_open') link = { address: String(token.attrGet('href') ?? ''), from: text.length }
    const leads = token.type === 'link_close' && LINK.test(link.address) && text.slice(link.from) !== link.address
    text += leads ? ` (${link.address})` : plainLeaf(token)
  }
  return text
}

function plainLeaf({ type, content }: Token): string {
  if (type === 'softbreak' || type === 'hardbreak') return '\n'
  return type === 'image' ? picturesAsText.formatMissing(content) : content
}
