import { authorize } from '../access/permissions.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { Context } from '../context.ts'
import type { LibraryContent } from './content.ts'
import { readLibraryVersion } from './library.ts'
import { type LibraryFilter, listLibrary } from './list-library.ts'

/** Questions of one file; the newest. */
export const MAX_EXPORTED = 5_000
const READ_AT_ONCE = 200

export type ExportedQuestion = { name: string; category: string; content: LibraryContent }

/** The questions that a filter finds, with what is right: for who writes assessments. @throws DomainError not_permitted. */
export async function exportLibrary(ctx: Context, filter: LibraryFilter): Promise<ExportedQuestion[]> {
  authorize(ctx, 'write_assessments')
  await recordAudit(ctx, { action: 'exported_questions' })
  const exported: ExportedQuestion[] = []
  for (let before = filter.before; exported.length < MAX_EXPORTED; ) {
    const { items, hasOlder } = await listLibrary(ctx, { ...filter, before }, READ_AT_ONCE)
    for (const { id, number, name, category } of items)
      exported.push({ name, category: category ?? '', content: await readLibraryVersion(ctx, id, number) })
    before = items.at(-1)?.id
    if (!hasOlder) break
  }
  return exported
}
