import type { Context } from '../../../domain/context.ts'
import { findMappings, type ImportChoices, type ImportFile, type ImportKind } from '../../../domain/imports/import-files.ts'
import { MAX_IMPORTED } from '../../../domain/library/imports.ts'
import { MAX_BATCH_ROWS } from '../../../domain/limits.ts'
import { isEncoding } from '../../../tables/encodings.ts'
import type { Inspection } from '../../../uploads/inspect.ts'
import type { ReadTask } from '../../../uploads/read-process.ts'
import { readUpload } from '../../../uploads/read-upload.ts'

/** Imports a file whose columns are confirmed. @returns address of the preview, from which the import is started. */
export type Importer = (ctx: Context, file: ImportFile) => Promise<string>

const MAX_ROWS: Record<ImportKind, number> = { questions: MAX_IMPORTED, candidates: MAX_BATCH_ROWS }

export const toReadChoices = ({ encoding, ...choices }: ImportChoices): NonNullable<ReadTask['choices']> => ({
  ...choices,
  ...(encoding && isEncoding(encoding) && { encoding }),
})

/** Reads a file's columns and a preview of its rows. @throws DomainError as readUpload. */
export async function inspectFile(
  ctx: Context,
  { kind, bytes, choices = {} }: { kind: ImportKind; bytes: Uint8Array; choices?: ImportChoices },
): Promise<Inspection> {
  const content = kind === 'questions' ? 'inspectQuestions' : 'inspectCandidates'
  const remembered = await findMappings(ctx, kind)
  const order = { content, bytes, maxRows: MAX_ROWS[kind], choices: { ...toReadChoices(choices), remembered } } as const
  return readUpload(ctx.organization.id, order)(async () => {})
}
