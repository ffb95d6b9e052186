import { isUuid } from '../domain/text/uuid.ts'
import { MEDIA_FOLDER } from './manifest.ts'
import { TransferError } from './transfer-error.ts'

/** Part of an unfinished recording. */
type Part = { segment: number; number: number }
/** A line of the list: a file of a recording, photo, or picture, or one that was erased before it could be copied. */
export type MediaLine = { id: string; part?: Part } & ({ bytes: number; sha256: string } | { erased: true })

/** Name of the file in the export, which also identifies it in the list. It is made from ids and numbers only. */
export const nameOfMedia = ({ id, part }: Pick<MediaLine, 'id' | 'part'>): string =>
  `${MEDIA_FOLDER}/${part ? `${id}-${part.segment}-${part.number}` : id}`

/** @throws TransferError for a line that is none. */
export function parseMediaLine(text: string): MediaLine {
  const { id, part, ...fields } = parseObject(text)
  const isPart = (value: unknown): value is Part =>
    typeof value === 'object' && value !== null && ['segment', 'number'].every((name) => isCount((value as never)[name]))
  if (typeof id !== 'string' || !isUuid(id) || !(part === undefined || isPart(part))) throw refuse()
  const place = { id: id.toLowerCase(), ...(part && { part: { segment: part.segment, number: part.number } }) }
  if (fields.erased === true) return { ...place, erased: true }
  const { bytes, sha256 } = fields
  if (!isCount(bytes) || typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) throw refuse()
  return { ...place, bytes, sha256 }
}

const refuse = () => new TransferError('The list of media has a line that is none.')
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

function parseObject(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) as Record<string, unknown> | null) ?? {}
  } catch {
    throw refuse()
  }
}
