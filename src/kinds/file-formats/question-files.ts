import { createHash } from 'node:crypto'
import type { QuestionPicture } from '../../domain/assets/question-pictures.ts'
import { printPicture } from '../../domain/assets/references.ts'

/** Markdown of a picture by its address in the file; null for one that the file doesn't contain. */
export type FindPicture = (source: string, alt: string) => string | null

/** Picture by its address; undefined for an unknown one. */
export type FindContent = (source: string) => QuestionPicture | undefined

export type Pictures = { find: FindPicture; files: Map<string, QuestionPicture> }

/** Pictures of a question. They get ids by their content, which are replaced by those of assets when the file is imported. */
export function collectPictures(findContent: FindContent = () => undefined): Pictures {
  const files = new Map<string, QuestionPicture>()
  const ids = new Map<string, string | null>()
  return {
    files,
    find(source, alt) {
      // A text may refer to a picture of megabytes thousands of times.
      if (!ids.has(source)) ids.set(source, add(source))
      const id = ids.get(source)
      return id ? printPicture(id, alt) : null
    },
  }

  function add(source: string): string | null {
    const found = findContent(source) ?? readDataAddress(source)
    if (!found) return null
    files.set(found.id, found)
    return found.id
  }
}

export const filesOf = ({ files }: Pictures): { files?: QuestionPicture[] } =>
  files.size > 0 ? { files: [...files.values()] } : {}

const DATA = /^data:image\/([a-z]+);base64,/i

function readDataAddress(source: string): QuestionPicture | undefined {
  const [head, type] = DATA.exec(source) ?? []
  return head === undefined ? undefined : toPicture(`picture.${type}`, source.slice(head.length))
}

/** A picture whose id identifies its content. */
export function toPicture(name: string, base64: string): QuestionPicture {
  const digest = createHash('sha256').update(base64).digest('hex')
  const parts = [digest.slice(0, 8), digest.slice(8, 12), digest.slice(12, 16), digest.slice(16, 20), digest.slice(20, 32)]
  return { id: parts.join('-'), name, base64 }
}
