import type { Direction } from '../locales/texts.ts'
import type { Block, Letter, Piece } from './letter.ts'

/** Text part of a mail. */
export const printText = ({ blocks }: Letter, direction: Direction): string => `${printAll(blocks, direction)}\n`

/** Leaves out blocks without a text form. */
const printAll = (blocks: readonly Block[], direction: Direction): string =>
  blocks
    .map((block) => print(block, direction))
    .filter((text) => text !== '')
    .join('\n\n')

function print(block: Block, direction: Direction): string {
  switch (block.kind) {
    case 'paragraph':
    case 'note':
      return printLine(block.content, direction)
    case 'notice':
      return `*** ${printLine(block.content, direction)} ***`
    case 'list':
      return block.items
        .map((item, i) => printItem(item, direction, block.from === undefined ? '-' : `${block.from + i}.`))
        .join('\n')
    case 'quote':
      return block.text.replaceAll(/^/gm, '> ').replaceAll(/ +$/gm, '')
    case 'closing':
      return `--\n${block.text}`
    case 'button':
      return `${block.label}\n${block.url}`
    case 'address':
      return ''
  }
}

/** Indents continuation lines. */
const printItem = (item: readonly Block[], direction: Direction, mark: string): string =>
  `${mark} ${printAll(item, direction).replaceAll(/\n(?=.)/g, `\n${' '.repeat(mark.length + 1)}`)}`

const printLine = (pieces: readonly Piece[], direction: Direction): string =>
  pieces.map((piece) => printPiece(piece, direction)).join('')

function printPiece(piece: Piece, direction: Direction): string {
  if (typeof piece === 'string') return piece
  // FIRST STRONG ISOLATE: text of another direction must not reorder its surroundings.
  if ('isolated' in piece) return direction === 'rtl' ? `\u2068${piece.isolated}\u2069` : piece.isolated
  if ('strong' in piece) return printLine(piece.strong, direction)
  if ('emphasis' in piece) return printLine(piece.emphasis, direction)
  if ('newLine' in piece) return '\n'
  const words = printLine(piece.content, direction)
  const address = piece.link.replace(/^mailto:/i, '')
  return words === piece.link || words === address ? address : `${words} (${address})`
}
