import { buffer } from 'node:stream/consumers'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { addPicture } from './add-picture.ts'
import { getAsset, readAsset } from './assets.ts'
import { PICTURE } from './references.ts'

// Pictures of questions in imported and exported files.

/** @property id that texts refer to; in an imported file it stands for an asset that isn't stored yet. @property base64 empty if it is missing. */
export type QuestionPicture = { id: string; name: string; base64: string }

/** Pictures of one imported file: each costs a row and a file. */
const MAX_PICTURES = 500
/** Bytes of the pictures of one exported question. */
const MAX_EXPORTED_BYTES = 25_000_000

/**
 * Stores pictures of imported questions. The same picture is stored once.
 *
 * @returns a function that stores those of a question, lets its texts refer to the assets, and says which pictures are left out.
 */
export function createPictureStore(
  ctx: Context,
): <T>(content: T, files: readonly QuestionPicture[]) => Promise<{ content: T; losses: string[] }> {
  const stored = new Map<string, string | null>()
  return async (content, files) => {
    const losses: string[] = []
    for (const file of files) {
      const reason = await store(file)
      if (reason) losses.push(`The picture “${file.name}” is left out. ${reason}`)
    }
    return { content: files.length > 0 ? replaceTexts(content, replacePictures) : content, losses }
  }

  /** @returns why it is left out. */
  async function store({ id, base64 }: QuestionPicture): Promise<string | undefined> {
    if (stored.get(id)) return undefined
    if (!stored.has(id) && stored.size >= MAX_PICTURES) return `A file can have up to ${MAX_PICTURES} pictures.`
    stored.set(id, null)
    try {
      stored.set(id, await addPicture(ctx, Buffer.from(base64, 'base64')))
      return undefined
    } catch (error) {
      const [issue] = error instanceof DomainError ? error.issues : []
      if (!issue || !('text' in issue)) throw error
      return issue.text
    }
  }

  function replacePictures(text: string): string {
    return text.replace(PICTURE, (whole, alt: string, id: string) => {
      const asset = stored.get(id.toLowerCase())
      return asset ? whole.replace(id, asset) : alt
    })
  }
}

/** Replaces each text within a value. */
function replaceTexts<T>(value: T, replace: (text: string) => string): T
function replaceTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, replace))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaceTexts(item, replace)]))
}

/** Reads the pictures of an exported question. Missing ones, and those beyond the limit, have no content. */
export async function readPictures(ctx: Context, ids: readonly string[]): Promise<QuestionPicture[]> {
  const files: QuestionPicture[] = []
  let bytes = 0
  for (const id of ids) {
    const asset = await getAsset(ctx, id).catch((error: unknown) => {
      if (error instanceof DomainError && error.kind === 'media_not_found') return null
      throw error
    })
    bytes += Number(asset?.bytes ?? 0)
    const isRead = asset?.kind === 'image' && bytes <= MAX_EXPORTED_BYTES
    const base64 = isRead ? (await buffer(await readAsset(ctx, asset))).toString('base64') : ''
    files.push({ id, name: `${id}.${asset?.contentType.split('/')[1] ?? ''}`, base64 })
  }
  return files
}
