import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { checkSize, checkText, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

/** Usual categories of errors in interpreting. */
export const INTERPRETING_CATEGORIES = ['Omission', 'Addition', 'Meaning', 'Terminology', 'Grammar', 'Delivery']

export const MAX_NOTE_CATEGORIES = 30
export const MAX_NOTE_CATEGORY_LENGTH = 60

/** Categories that graders choose from for a note on a recorded answer. */
export const findNoteCategories = async ({ db, organization }: Context): Promise<string[]> =>
  (await db.organization.findUniqueOrThrow({ where: { id: organization.id }, select: { noteCategories: true } })).noteCategories

/**
 * Changes the categories. Notes keep the category that they have.
 *
 * @throws DomainError not_permitted; invalid.
 */
export async function changeNoteCategories(ctx: Context, categories: readonly string[]): Promise<void> {
  authorize(ctx, 'manage_settings')
  const named = [...new Set(categories.map((category) => category.trim()).filter((category) => category !== ''))]
  throwIfIssues(
    findIssues([
      ['categories', checkSize('maxItems', named.length, MAX_NOTE_CATEGORIES)],
      ['categories', named.map((category) => checkText(category, MAX_NOTE_CATEGORY_LENGTH)).find((violation) => violation)],
    ]),
  )
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    await db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    const before = await findNoteCategories(inside)
    if (before.join('\n') === named.join('\n')) return
    await db.organization.update({ where: { id: organization.id }, data: { noteCategories: named, updatedAt: deps.clock() } })
    await recordAudit(inside, {
      action: 'changed_note_categories',
      details: { before: before.join(', '), after: named.join(', ') },
    })
  })
}
