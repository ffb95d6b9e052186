import { createHash } from 'node:crypto'
import type { QuestionDefinition } from '../assessments/define-question.ts'
import type { QuestionInput } from '../assessments/question-input.ts'
import { withoutPictures } from '../assets/references.ts'

/** Content of a question: texts and definition. */
export type LibraryContent = { input: QuestionInput; definition: QuestionDefinition | null }

/** Hash of what a question asks and of its rubric, without points, times, and the random ids of a definition. */
export function hashContent({ input, definition }: LibraryContent): Uint8Array<ArrayBuffer> {
  const { points: _, timeLimit: __, preparationTime: ___, rubric, simultaneous, ...contentFields } = input
  const askedContent = simultaneous ? { ...contentFields, simultaneous } : contentFields // versions of earlier releases don't have it
  const places = new Map(idsIn(definition?.spec).map((id, i) => [id, `#${i}`]))
  const same = canonical(
    { asked: askedContent, spec: definition?.spec ?? null, key: definition?.key ?? null, ...(rubric && { rubric }) },
    places,
  )
  return new Uint8Array(createHash('sha256').update(JSON.stringify(same)).digest())
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Sorted by field name, because the database does not keep their order. */
function idsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn)
  if (!isRecord(value)) return []
  const ownId = typeof value.id === 'string' ? [value.id] : []
  return [
    ...ownId,
    ...Object.keys(value)
      .toSorted()
      .flatMap((name) => idsIn(value[name])),
  ]
}

/** Fields by their names, ids by their places; a list of nothing but ids is a set. */
function canonical(value: unknown, places: Map<string, string>): unknown {
  if (typeof value === 'string') return places.get(value) ?? value
  if (Array.isArray(value)) {
    const canonicalValues = value.map((item) => canonical(item, places))
    return value.every((item) => typeof item === 'string' && places.has(item)) ? canonicalValues.toSorted() : canonicalValues
  }
  if (!isRecord(value)) return value
  const entries = Object.entries(value).map(([name, item]) => [places.get(name) ?? name, canonical(item, places)] as const)
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** Characters of the name of a question that got none. */
const NAME_LENGTH = 120

/** Name of an unnamed question: the beginning of its text. */
export function nameFromContent({ script, audioUrl, videoUrl }: QuestionInput): string {
  const text = [...withoutPictures(script).trim().replace(/\s+/g, ' ')]
  if (text.length === 0) return audioUrl || videoUrl ? 'Without text' : 'Question'
  return text.length > NAME_LENGTH ? `${text.slice(0, NAME_LENGTH - 1).join('')}…` : text.join('')
}
