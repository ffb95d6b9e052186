import type { Context } from '../context.ts'
import { findInstructions } from './assessments.ts'

type Text = { instructionTitle: string; instruction: string }
type Holder = { id: string; instructionId: string | null }

/**
 * Stores an assessment's instruction. Imported assessments may share one; then the shared one stays, and the assessment gets its own.
 *
 * @param holder the assessment; null when it is new.
 * @returns the id of its instruction; null without a text.
 */
export async function saveInstruction(ctx: Context, { instructionTitle: title, instruction: body }: Text, holder: Holder | null) {
  if (body.trim() === '') return null
  const { db, deps } = ctx
  const organizationId = ctx.organization.id
  if (holder?.instructionId) {
    const [current] = await findInstructions(ctx, [holder.instructionId])
    if (current?.title === title && current.body === body) return current.id
    const unshared = { organizationId, id: holder.instructionId, assessments: { none: { id: { not: holder.id } } } }
    const { count } = await db.instruction.updateMany({ where: unshared, data: { title, body } })
    if (count > 0) return holder.instructionId
  }
  const { id } = await db.instruction.create({ data: { id: deps.newId(), organizationId, title, body } })
  return id
}

/** Deletes the instruction that an assessment had, unless another has it too. */
export async function deleteUnusedInstruction(
  { db, organization }: Context,
  { instructionId }: { instructionId: string | null },
) {
  if (!instructionId) return
  await db.instruction.deleteMany({ where: { organizationId: organization.id, id: instructionId, assessments: { none: {} } } })
}
