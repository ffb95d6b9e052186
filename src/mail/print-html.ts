import { type Html, html, toText } from '../html/html.ts'
import type { Direction } from '../locales/texts.ts'
import { inlineStyles } from './inline-styles.ts'
import type { Block, Letter, MailBrand, Piece } from './letter.ts'

type Reader = { language: string; direction: Direction }

/**
 * HTML part of a mail. It uses tables, because Outlook supports padding nowhere else, and `<br>`, because some programs drop `white-space`.
 * Class names are those of inline-styles.ts.
 *
 * @param brand undefined: the service's own look.
 */
export const printHtml = (letter: Letter, reader: Reader, brand?: MailBrand): string =>
  inlineStyles(toText(page(letter, reader, brand)), brand)

const page = ({ subject, blocks }: Letter, { language, direction }: Reader, brand?: MailBrand): Html => html`<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${subject}</title>
</head>
<body class="page">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" class="sheet"><tr><td align="center" class="around">
<table role="presentation" width="560" cellpadding="0" cellspacing="0" border="0" class="card" dir="${direction}"><tr><td align="${direction === 'rtl' ? 'right' : 'left'}" class="inside">
${brand?.logo && printLogo(brand.logo)}${blocks.map(print)}</td></tr></table>
</td></tr></table>
</body>
</html>
`

/** The alt text shows if images are blocked. */
const printLogo = ({ url, width, height, organization }: NonNullable<MailBrand['logo']>): Html =>
  html`<table role="presentation" cellpadding="0" cellspacing="0" border="0" class="mark"><tr><td class="plate"><img src="${url}" alt="${organization}" width="${width}" height="${height}" class="logo"></td></tr></table>\n`

function print(block: Block): Html {
  switch (block.kind) {
    case 'paragraph':
      return html`<p class="text">${line(block.content)}</p>\n`
    case 'note':
      return html`<p class="small">${line(block.content)}</p>\n`
    case 'notice':
      return box('notice', html`<p class="boxed">${line(block.content)}</p>`)
    case 'list':
      return printList(block)
    case 'quote':
      return box('quote', html`<blockquote class="boxed" dir="auto">${lines(block.text)}</blockquote>`)
    case 'closing':
      return html`<p class="closing" dir="auto">${lines(block.text)}</p>\n`
    case 'button':
      return html`<table role="presentation" cellpadding="0" cellspacing="0" border="0" class="action"><tr><td class="button"><a href="${block.url}" class="label">${block.label}</a></td></tr></table>\n`
    case 'address':
      return html`<p class="small">${block.intro}<br><a href="${block.url}" class="address" dir="ltr">${block.url}</a></p>\n`
  }
}

const box = (role: 'notice' | 'quote', content: Html): Html =>
  html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" class="box"><tr><td class="${role}">${content}</td></tr></table>\n`

function printList({ items, from }: Extract<Block, { kind: 'list' }>): Html {
  const printed = items.map((item) => html`<li class="item">${printItem(item)}</li>`)
  return from === undefined ? html`<ul class="list">${printed}</ul>\n` : html`<ol class="list" start="${from}">${printed}</ol>\n`
}

/** A list item's first line is not wrapped in a paragraph. */
const printItem = ([first, ...otherBlocks]: readonly Block[]): Value =>
  first?.kind === 'paragraph' ? [line(first.content), otherBlocks.map(print)] : [first && print(first), otherBlocks.map(print)]

type Value = Parameters<typeof html>[1]

const line = (pieces: readonly Piece[]): Value => pieces.map(printPiece)

function printPiece(piece: Piece): Value {
  if (typeof piece === 'string') return piece
  if ('isolated' in piece) return html`<bdi>${piece.isolated}</bdi>`
  if ('strong' in piece) return html`<strong>${line(piece.strong)}</strong>`
  if ('emphasis' in piece) return html`<em>${line(piece.emphasis)}</em>`
  if ('newLine' in piece) return html`<br>`
  return html`<a href="${piece.link}" class="link">${line(piece.content)}</a>`
}

const lines = (text: string): Html[] =>
  text.split(/\r\n|[\n\r\u2028\u2029\v\f\u0085]/).map((part, i) => (i === 0 ? html`${part}` : html`<br>${part}`))
