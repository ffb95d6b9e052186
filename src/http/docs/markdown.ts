import { lexer, type Token, type Tokens } from 'marked'
import { type Html, html } from '../../html/html.ts'
import { CODE, codeBlock } from './code-block.ts'

/**
 * @property anchor by GitHub's rules, so that links work on GitHub and on the site.
 * @property content plain text of the section.
 */
export type Heading = { level: number; text: string; anchor: string; content: string }
/** @property title first heading. @property lead first paragraph. @property introduction plain text before the next heading. */
export type Document = { title: string; lead: string; introduction: string; headings: Heading[]; body: Html }
/** Maps a link of a document to an address of the site; undefined if the target is not part of it. */
type Resolve = (href: string) => string | undefined

/** @throws Error for HTML, pictures, and documents without a title: docs/ has none. */
export function renderMarkdown(source: string, resolve: Resolve): Document {
  const [first, ...body] = lexer(source).filter(({ type }) => type !== 'space')
  if (first?.type !== 'heading') throw new Error('The document does not begin with its title')
  const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'
  const below = (from: number): string => {
    const end = body.findIndex((token, i) => i >= from && isHeading(token))
    return textOf(body.slice(from, end < 0 ? body.length : end))
  }
  const headings = body.flatMap((token, i) => (isHeading(token) ? [{ ...describeHeading(token), content: below(i + 1) }] : []))
  const lead = body.find(({ type }) => type === 'paragraph') as Tokens.Paragraph | undefined
  return {
    title: plain(first as Tokens.Heading),
    lead: lead ? plain(lead) : '',
    introduction: below(0),
    headings,
    body: html`${blocks(body, resolve)}`,
  }
}

const describeHeading = (token: Tokens.Heading): Omit<Heading, 'content'> => ({
  level: token.depth,
  text: plain(token),
  anchor: anchorOf(token.text),
})

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** Text without formatting. */
const plain = ({ tokens = [], text }: { tokens?: Token[] | undefined; text: string }): string =>
  tokens.length > 0 ? tokens.map((token) => plain(token as Tokens.Generic & { text: string })).join('') : text

/** Text of blocks on a single line. */
const textOf = (tokens: Token[]): string => tokens.map(textOfBlock).join(' ').replaceAll(/\s+/g, ' ').trim()

function textOfBlock(token: Token): string {
  if (token.type === 'list') return textOf((token as Tokens.List).items.flatMap((item) => item.tokens))
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].flatMap((cells) => cells.map(({ tokens }) => textOf(tokens))).join(' ')
  }
  if (token.type === 'blockquote') return textOf((token as Tokens.Blockquote).tokens)
  return plain(token as Tokens.Generic & { text: string })
}

const blocks = (tokens: Token[], resolve: Resolve): Html[] => tokens.map((token) => block(token as Block, resolve))

type Block =
  | Tokens.Heading
  | Tokens.Paragraph
  | Tokens.Text
  | Tokens.Code
  | Tokens.List
  | Tokens.Table
  | Tokens.Blockquote
  | Tokens.Space
  | Tokens.Hr

function block(token: Block, resolve: Resolve): Html {
  switch (token.type) {
    case 'heading':
      return heading(token, resolve)
    case 'paragraph':
      return html`<p class="my-4 leading-7">${inline(token.tokens, resolve)}</p>\n`
    case 'text':
      return html`${inline(token.tokens ?? [token], resolve)}`
    case 'code':
      return codeBlock(token.text)
    case 'list': {
      const items = token.items.map((item) => html`<li class="pl-1">${blocks(item.tokens, resolve)}</li>\n`)
      return token.ordered
        ? html`<ol class="my-4 list-decimal space-y-2 pl-6 leading-7">${items}</ol>\n`
        : html`<ul class="my-4 list-disc space-y-2 pl-6 leading-7">${items}</ul>\n`
    }
    case 'table':
      return table(token, resolve)
    case 'blockquote':
      return html`<blockquote class="border-base-300 my-4 border-l-4 pl-4">${blocks(token.tokens, resolve)}</blockquote>\n`
    case 'hr':
      return html`<hr class="border-base-300 my-8">\n`
    case 'space':
      return html``
    default:
      throw new Error(`Our documents have no ${(token as Token).type}: ${(token as Token).raw}`)
  }
}

function heading(token: Tokens.Heading, resolve: Resolve): Html {
  const { anchor } = describeHeading(token)
  const text = inline(token.tokens, resolve)
  return token.depth === 2
    ? html`<h2 id="${anchor}" class="mt-10 mb-3 scroll-mt-20 text-xl tracking-tight"><a class="hover:underline" href="#${anchor}">${text}</a></h2>\n`
    : html`<h3 id="${anchor}" class="mt-8 mb-2 scroll-mt-20 text-lg"><a class="hover:underline" href="#${anchor}">${text}</a></h3>\n`
}

const table = ({ header, rows }: Tokens.Table, resolve: Resolve): Html => html`<div class="my-4 overflow-x-auto" tabindex="0">
<table class="table table-sm">
<thead><tr>${header.map(({ tokens }) => (tokens.length > 0 ? html`<th scope="col">${inline(tokens, resolve)}</th>` : html`<td></td>`))}</tr></thead>
<tbody>
${rows.map((cells) => html`<tr>${cells.map(({ tokens }) => html`<td class="min-w-32 align-top leading-6">${inline(tokens, resolve)}</td>`)}</tr>\n`)}</tbody>
</table>
</div>
`

const inline = (tokens: Token[], resolve: Resolve): Html[] => tokens.map((token) => span(token as Span, resolve))

type Span = Tokens.Text | Tokens.Strong | Tokens.Em | Tokens.Codespan | Tokens.Link | Tokens.Escape | Tokens.Br

function span(token: Span, resolve: Resolve): Html {
  switch (token.type) {
    case 'text':
    case 'escape':
      return 'tokens' in token && token.tokens ? html`${inline(token.tokens, resolve)}` : html`${token.text}`
    case 'strong':
      return html`<strong>${inline(token.tokens, resolve)}</strong>`
    case 'em':
      return html`<em>${inline(token.tokens, resolve)}</em>`
    case 'codespan':
      return html`<code class="${CODE}">${token.text}</code>`
    case 'br':
      return html`<br>`
    case 'link':
      return link(token, resolve)
    default:
      throw new Error(`Our documents have no ${(token as Token).type}: ${(token as Token).raw}`)
  }
}

/** Links without a target on the site are printed as text. */
function link({ href, tokens }: Tokens.Link, resolve: Resolve): Html {
  const text = inline(tokens, resolve)
  const address = /^https?:/.test(href) ? href : resolve(href)
  return address === undefined ? html`${text}` : html`<a class="link link-primary" href="${address}" rel="noreferrer">${text}</a>`
}
