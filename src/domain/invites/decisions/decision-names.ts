import { recordAudit } from '../../audit/record-audit.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DECISIONS, type Decision } from '../../events/event.ts'
import { inTransaction } from '../../transaction.ts'
import { checkText, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'

/** Decisions that an organization may rename. */
export const NAMED_DECISIONS = ['shortlist', 'hold', 'reject', 'advance'] as const satisfies Decision[]
export type DecisionNames = Record<Decision, string>

export const DEFAULT_DECISION_NAMES: DecisionNames = {
  none: 'No decision',
  shortlist: 'Shortlist',
  hold: 'Hold',
  reject: 'Reject',
  advance: 'Advance',
}
const MAX_DECISION_NAME_LENGTH = 40

export const isDecision = (word: string): word is Decision => DECISIONS.some((decision) => decision === word)

/** The organization's names of decisions. Pages for its members and its exports use them; the feed has the fixed words. */
export async function readDecisionNames({ db, organization }: Context): Promise<DecisionNames> {
  const select = { decisionNames: true }
  const { decisionNames } = await db.organization.findUniqueOrThrow({ where: { id: organization.id }, select })
  return { ...DEFAULT_DECISION_NAMES, ...(decisionNames as Partial<DecisionNames> | null) }
}

/**
 * Renames decisions. An empty name restores the service's.
 *
 * @throws DomainError not_permitted; invalid: a name that is too long.
 */
export async function renameDecisions(
  ctx: Context,
  names: Partial<Record<(typeof NAMED_DECISIONS)[number], string>>,
): Promise<void> {
  authorize(ctx, 'manage_settings')
  const trimmed = NAMED_DECISIONS.map((decision) => [decision, (names[decision] ?? '').trim()] as const)
  throwIfIssues(findIssues(trimmed.map(([decision, name]) => [decision, checkText(name, MAX_DECISION_NAME_LENGTH)])))
  const customNames = Object.fromEntries(
    trimmed.filter(([decision, name]) => name !== '' && name !== DEFAULT_DECISION_NAMES[decision]),
  )
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const data = { decisionNames: customNames, updatedAt: deps.clock() }
    await db.organization.update({ where: { id: organization.id }, data })
    await recordAudit(inside, { action: 'changed_decision_names' })
  })
}

/** A decision recorded by a newer release is shown as it is. */
export const nameOfDecision = (names: DecisionNames, decision: string): string =>
  isDecision(decision) ? names[decision] : decision
