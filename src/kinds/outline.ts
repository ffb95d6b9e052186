import type { QuestionDefinition } from '../domain/assessments/define-question.ts'
import { labelKind } from './labels.ts'

/** A labeled property of a question. */
export type DefinitionTrait = { label: string; lines: string[] }

/** Labels as in the authors' forms. Other property names are capitalized. */
const LABELS: Record<string, string> = {
  shuffle: 'Shuffled',
  least: 'Minimum to choose',
  most: 'Maximum to choose',
  policy: 'Scoring',
  right: 'Right',
  weights: 'Shares of the points',
  answers: 'Accepted numbers',
  lines: 'Lines of the field',
  accepted: 'Accepted texts',
  caseSensitive: 'Capital letters must match',
  ignore: 'Ignored',
  otherwise: 'Any other text',
  fixed: 'keeps its place',
}
const VALUES: Record<string, Record<string, string>> = {
  policy: {
    exact: 'All or nothing',
    balanced: 'Balanced: wrong options count against right ones',
    weights: 'Options give shares',
  },
  otherwise: { people: 'is read by a grader', wrong: 'gets no points' },
}

/** Describes the definition of a question in words, in the order of the author's form. */
export function outlineDefinition({ responseType, spec, key }: QuestionDefinition): DefinitionTrait[] {
  const names = new Map(namesIn(spec))
  const traits = [spec, key].flatMap((part) =>
    Object.entries(part as Record<string, unknown>).map(([name, value]): DefinitionTrait => {
      const label = LABELS[name] ?? capitalize(name)
      return { label, lines: linesOf(name, value, names) }
    }),
  )
  return [{ label: 'Answer format', lines: [labelKind(responseType)] }, ...traits]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Texts by id. */
function namesIn(value: unknown): [id: string, text: string][] {
  if (Array.isArray(value)) return value.flatMap(namesIn)
  if (!isRecord(value)) return []
  const ownName: [string, string][] =
    typeof value.id === 'string' && typeof value.text === 'string' ? [[value.id, value.text]] : []
  return [...ownName, ...Object.values(value).flatMap(namesIn)]
}

function linesOf(name: string, value: unknown, names: Map<string, string>): string[] {
  if (Array.isArray(value)) return value.map((item) => lineOf(name, item, names))
  if (!isRecord(value)) return [lineOf(name, value, names)]
  return Object.entries(value).map(([part, item]) => `${names.get(part) ?? LABELS[part] ?? part}: ${lineOf(name, item, names)}`)
}

function lineOf(name: string, value: unknown, names: Map<string, string>): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (name === 'weights' || name === 'share') return `${value} %`
  if (!isRecord(value)) return names.get(String(value)) ?? VALUES[name]?.[String(value)] ?? String(value)
  const { id: _, text, value: exactly, from, to, tolerance, ...more } = value
  const head = text ?? exactly ?? (from !== undefined ? `${from} to ${to}` : '')
  const parts = [
    String(head),
    tolerance !== undefined && formatTolerance(tolerance),
    ...Object.entries(more).map(([part, item]) => formatPart(part, item, names)),
  ]
  return parts.filter(Boolean).join(', ')
}

function formatTolerance(tolerance: unknown): string {
  if (!isRecord(tolerance)) return `± ${tolerance}`
  return `± ${tolerance.by}${tolerance.in === 'percent' ? ' %' : ''}`
}

function formatPart(part: string, value: unknown, names: Map<string, string>): string | false {
  if (part === 'share') return value !== 100 && `${value} % of the points`
  if (typeof value === 'boolean') return value && (LABELS[part] ?? part)
  return `${LABELS[part] ?? part} ${lineOf(part, value, names)}`
}

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
