import {
  type Hole,
  type Placeholder,
  parseSubject,
  parseTemplate,
  type TemplateBlock,
  type TemplatePiece,
} from '../domain/mails/template-text.ts'
import type { Block, Letter, Piece } from './letter.ts'

/** Placeholder values; empty if unknown. */
export type Values = Readonly<Record<Exclude<Placeholder, 'link'>, string>>

/** Fills an organization's template. @param button replaces the link placeholder; null: removed. */
export const fillTemplate = (
  { subject, body }: { subject: string; body: string },
  values: Values,
  button: Block | null,
): Letter => ({
  subject: parseSubject(subject)
    .map((piece) => (typeof piece === 'string' ? piece : wordsFor(piece, values)))
    .join(''),
  blocks: parseTemplate(body).flatMap((block) => fillBlock(block, values, button)),
})

/** True if the template includes the sender's message. */
export const saysMessage = (body: string): boolean =>
  parseTemplate(body).some((block) => holesIn(block).some((hole) => hole === 'message'))

function fillBlock(block: TemplateBlock, values: Values, button: Block | null): Block[] {
  if (block.kind === 'list') {
    const items = block.items
      .map((item) => item.flatMap((one) => fillBlock(one, values, button)))
      .filter((item) => item.length > 0)
    return items.length > 0 ? [{ ...block, items }] : []
  }
  const holes = holesIn(block)
  if (holes.includes('link')) return button ? [button] : []
  const [only] = block.said
  if (block.said.length === 1 && isHole(only) && only.hole === 'message')
    return wordsFor(only, values) === '' ? [] : [{ kind: 'quote', text: wordsFor(only, values) }]
  // Paragraphs whose placeholders are all empty are left out, e.g. a greeting without a name.
  const filled = listHoles(block.said).map((hole) => wordsFor(hole, values))
  if (filled.length > 0 && filled.every((value) => value === '')) return []
  return [{ kind: 'paragraph', said: block.said.flatMap((piece) => fillPiece(piece, values)) }]
}

function fillPiece(piece: TemplatePiece, values: Values): Piece[] {
  if (typeof piece === 'string' || 'newLine' in piece) return [piece]
  const within = (pieces: readonly TemplatePiece[]) => pieces.flatMap((one) => fillPiece(one, values))
  if ('strong' in piece) return [{ strong: within(piece.strong) }]
  if ('emphasis' in piece) return [{ emphasis: within(piece.emphasis) }]
  if ('link' in piece) return [{ link: piece.link, within: within(piece.within) }]
  return wordsFor(piece, values)
    .split(/\r\n|[\n\r]/)
    .flatMap((own, i): Piece[] => (i === 0 ? [{ own }] : [{ newLine: true }, { own }]))
}

const wordsFor = ({ hole, otherwise }: Hole, values: Values): string => (hole === 'link' ? '' : values[hole]) || otherwise

const isHole = (piece: TemplatePiece | undefined): piece is Hole => typeof piece === 'object' && 'hole' in piece

const holesIn = (block: TemplateBlock): Placeholder[] =>
  block.kind === 'list' ? block.items.flat().flatMap(holesIn) : listHoles(block.said).map(({ hole }) => hole)

const listHoles = (pieces: readonly TemplatePiece[]): Hole[] =>
  pieces.flatMap((piece) => {
    if (typeof piece === 'string' || 'newLine' in piece) return []
    if ('hole' in piece) return [piece]
    return listHoles('strong' in piece ? piece.strong : 'emphasis' in piece ? piece.emphasis : piece.within)
  })
