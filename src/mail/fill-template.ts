import {
  type Placeholder,
  type PlaceholderPiece,
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
    .map((piece) => (typeof piece === 'string' ? piece : valueFor(piece, values)))
    .join(''),
  blocks: parseTemplate(body).flatMap((block) => fillBlock(block, values, button)),
})

/** True if the template includes the sender's message. */
export const includesMessage = (body: string): boolean =>
  parseTemplate(body).some((block) => placeholdersIn(block).some((hole) => hole === 'message'))

function fillBlock(block: TemplateBlock, values: Values, button: Block | null): Block[] {
  if (block.kind === 'list') {
    const items = block.items
      .map((item) => item.flatMap((innerBlock) => fillBlock(innerBlock, values, button)))
      .filter((item) => item.length > 0)
    return items.length > 0 ? [{ ...block, items }] : []
  }
  const holes = placeholdersIn(block)
  if (holes.includes('link')) return button ? [button] : []
  const [only] = block.content
  if (block.content.length === 1 && isPlaceholder(only) && only.placeholder === 'message')
    return valueFor(only, values) === '' ? [] : [{ kind: 'quote', text: valueFor(only, values) }]
  // Paragraphs whose placeholders are all empty are left out, e.g. a greeting without a name.
  const filled = listPlaceholders(block.content).map((hole) => valueFor(hole, values))
  if (filled.length > 0 && filled.every((value) => value === '')) return []
  return [{ kind: 'paragraph', content: block.content.flatMap((piece) => fillPiece(piece, values)) }]
}

function fillPiece(piece: TemplatePiece, values: Values): Piece[] {
  if (typeof piece === 'string' || 'newLine' in piece) return [piece]
  const fillAll = (pieces: readonly TemplatePiece[]) => pieces.flatMap((innerPiece) => fillPiece(innerPiece, values))
  if ('strong' in piece) return [{ strong: fillAll(piece.strong) }]
  if ('emphasis' in piece) return [{ emphasis: fillAll(piece.emphasis) }]
  if ('link' in piece) return [{ link: piece.link, content: fillAll(piece.content) }]
  return valueFor(piece, values)
    .split(/\r\n|[\n\r]/)
    .flatMap((line, i): Piece[] => (i === 0 ? [{ isolated: line }] : [{ newLine: true }, { isolated: line }]))
}

const valueFor = ({ placeholder: hole, fallback: otherwise }: PlaceholderPiece, values: Values): string =>
  (hole === 'link' ? '' : values[hole]) || otherwise

const isPlaceholder = (piece: TemplatePiece | undefined): piece is PlaceholderPiece =>
  typeof piece === 'object' && 'placeholder' in piece

const placeholdersIn = (block: TemplateBlock): Placeholder[] =>
  block.kind === 'list'
    ? block.items.flat().flatMap(placeholdersIn)
    : listPlaceholders(block.content).map(({ placeholder }) => placeholder)

const listPlaceholders = (pieces: readonly TemplatePiece[]): PlaceholderPiece[] =>
  pieces.flatMap((piece) => {
    if (typeof piece === 'string' || 'newLine' in piece) return []
    if ('placeholder' in piece) return [piece]
    return listPlaceholders('strong' in piece ? piece.strong : 'emphasis' in piece ? piece.emphasis : piece.content)
  })
