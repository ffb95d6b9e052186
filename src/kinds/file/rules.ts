import type { FileType } from '../../domain/files/type-of-content.ts'
import { formatBytes } from '../../domain/text/format-bytes.ts'
import { defineKind } from '../define-kind.ts'
import { AnswerSchema, type FileGroup, KeySchema, SpecSchema } from './schema.ts'

/** A table saved as CSV is plain text. */
export const GROUP_TYPES: Record<FileGroup, readonly FileType[]> = {
  document: ['pdf', 'docx', 'odt', 'rtf', 'txt'],
  picture: ['png', 'jpg', 'webp', 'gif'],
  spreadsheet: ['xlsx', 'ods', 'txt'],
  presentation: ['pptx', 'odp', 'pdf'],
  archive: ['zip'],
}

export const fileRules = defineKind({
  words: ['file'],
  penalizes: false,
  schema: { spec: SpecSchema, key: KeySchema, answer: AnswerSchema },
  faults: () => [],
  arrange: () => null,
  fits: (_, { most }, files) => files.length <= most,
  isEmpty: (files) => files.length === 0,
  describe: (_, files) => files.map(({ name, bytes }) => `${name} (${formatBytes(bytes)})`).join('\n'),
  understand: () => undefined,
  // Files are uploaded before the form is sent.
  fromForm: () => [],
  toForm: () => [],
  makeUp: () => [],
  score: () => ({ state: 'people' }),
  files: ({ groups, most }) => ({ maxFiles: most, types: [...new Set(groups.flatMap((group) => GROUP_TYPES[group]))] }),
})
