import { sql } from '../../db/builder.ts'
import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { insertRows, type NewRows } from '../../db/writes.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import type { Context, KeyMode, Mode, ServiceContext } from '../context.ts'
import { AUDIT_RETENTION_DAYS, MAX_USER_AGENT_LENGTH } from '../limits.ts'
import type { AuditDetails, ExactDetails } from './audit-details.ts'

/** Actions on data that live and test mode share. */
const SHARED_ACTIONS = [
  'signed_in',
  'failed_sign_in',
  'refused',
  'resumed_form',
  'joined',
  'invited_member',
  'changed_name',
  'changed_password',
  'reset_password',
  'proved_address',
  'admitted_browser',
  'added_factor',
  'renamed_factor',
  'removed_factor',
  'made_recovery_codes',
  'reset_factors',
  'ended_sessions',
  'ended_member_sessions',
  'refused_sign_in',
  'linked_identity',
  'unlinked_identity',
  'used_break_glass',
  'generated_key',
  'rotated_key',
  'changed_key',
  'revoked_key',
  'sent_join_link',
  'changed_member',
  'changed_client_assessments',
  'deactivated_member',
  'reactivated_member',
  'offered_ownership',
  'withdrew_ownership_offer',
  'refused_ownership',
  'became_owner',
  'ended_ownership',
  'created_tag',
  'changed_tag',
  'deleted_tag',
  'changed_settings',
  'changed_security',
  'added_sign_in_provider',
  'changed_sign_in_provider',
  'tried_sign_in_provider',
  'removed_sign_in_provider',
  'allowed_relinking',
  'discarded_sign_in_settings',
  'added_sign_in_domain',
  'verified_sign_in_domain',
  'removed_sign_in_domain',
  'lost_sign_in_domain',
  'enforced_sso',
  'stopped_enforcing_sso',
  'changed_sign_in_exception',
  'changed_mail_text',
  'changed_brand',
  'changed_page_words',
  'tested_mail_text',
  'changed_reminders',
  'changed_notices',
  'looked_into_bounces',
  'created_assessment',
  'updated_assessment',
  'duplicated_assessment',
  'deleted_assessment',
  'archived_assessment',
  'saved_template',
  'removed_template',
  'unarchived_assessment',
  'added_question',
  'updated_question',
  'moved_question',
  'deleted_question',
  'duplicated_question',
  'ordered_questions',
  'added_section',
  'updated_section',
  'moved_section',
  'deleted_section',
  'added_pool',
  'updated_pool',
  'deleted_pool',
  'corrected_key',
  'saved_to_library',
  'saved_library_version',
  'changed_library_question',
  'retired_library_question',
  'restored_library_question',
  'imported_questions',
  'undid_import',
  'exported_questions',
  'generated_ats_key',
  'revoked_ats_key',
  'entered_key_of_ats',
  'exported_members',
  'asked_for_erasure',
  'asked_for_archive',
  'fetched_archive',
  'erased_member',
  'changed_retention',
  'changed_transcription',
  'changed_captions',
  'changed_note_categories',
  'changed_decision_names',
  'changed_bands',
  'changed_selection_rates',
  'changed_sharing',
  'changed_client_view',
  'erased_ended_invites',
  'exported_audit_log',
  'asked_for_organization_erasure',
  'kept_organization',
  'exported_organization',
  'asked_for_organization_export',
  'fetched_organization_export',
  'moved_organization',
  'imported_organization',
  'resumed_organization',
] as const
/** Actions on live or on test data. */
const DATA_ACTIONS = [
  'invited',
  'invited_many',
  'stopped_batch',
  'resumed_batch',
  'discarded_batch',
  'changed_many',
  'stopped_bulk_change',
  'resumed_bulk_change',
  'resent_invite',
  'extended_invite',
  'shortened_invite',
  'corrected_invite',
  'changed_extra_time',
  'revoked_invite',
  'reactivated_invite',
  'assigned_grader',
  'tagged_invite',
  'untagged_invite',
  'created_webhook',
  'changed_webhook',
  'enabled_webhook',
  'disabled_webhook',
  'deleted_webhook',
  'rotated_webhook_secret',
  'tested_webhook',
  'replayed_webhook',
  'tested_ats',
  'reported_to_ats_again',
  'stopped_reminders',
  'resumed_reminders',
  'suppressed_address',
  'lifted_suppression',
  'exported_invites',
  'exported_invite_batch',
  'exported_bulk_change',
  'exported_grades',
  'exported_notes',
  'exported_results',
  'exported_selection_rates',
  'exported_statistics',
  'waived_requirement',
  'deleted_media',
  'corrected_transcript',
  'assigned_second_grader',
  'graded',
  'released_result',
  'reopened_result',
  'decided',
  'shared_results',
  'revoked_share_link',
  'opened_share_link',
  'answered_share_link',
  'deleted_test_data',
  'changed_open_link',
  'replaced_open_link',
] as const
export const AUDIT_ACTIONS = [...SHARED_ACTIONS, ...DATA_ACTIONS] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export type AuditEvent<Details extends object = AuditDetails> = {
  action: AuditAction
  /** The row it was done to, where it is another than the actor's own. */
  target?: {
    kind:
      | 'api_key'
      | 'member'
      | 'tag'
      | 'assessment'
      | 'question'
      | 'question_version'
      | 'library_question'
      | 'library_import'
      | 'invite'
      | 'invite_batch'
      | 'bulk_change'
      | 'share_link'
      | 'webhook'
      | 'ats_key'
      | 'ats_connection'
      | 'erasure'
      | 'archive'
    id: string
  }
  /** Further facts, for example the name of a deleted row. */
  details?: ExactDetails<Details>
}

type AuditContext = ServiceContext & { organization: { id: string }; mode?: Mode }

/** Entries a statement. */
const ENTRIES_AT_ONCE = 5_000

/** Records what the context's actor does in an organization. Called in the transaction of the change: both are kept, or neither is. */
export async function recordAudit<Details extends Prisma.InputJsonObject>(
  ctx: AuditContext,
  event: AuditEvent<Details>,
): Promise<void> {
  await insertRows(ctx.db, { auditEntries: [auditEntryOf(ctx, event)] }).execute()
}

/** The rows of many, for a statement that makes the changes. */
export const auditRows = (ctx: AuditContext, events: readonly AuditEvent[]): AuditRow[] =>
  events.map((event) => auditEntryOf(ctx, event))

/** Records an action only if a member did it. API keys do it too often to record each. */
export async function recordByMember<Details extends Prisma.InputJsonObject>(
  ctx: Context,
  event: AuditEvent<Details>,
): Promise<void> {
  if (ctx.actor.kind === 'member') await recordAudit(ctx, event)
}

/** Audit row for the statement that makes the change; empty if the action is not recorded. */
export const auditEntriesByMember = (ctx: Context, event: AuditEvent): AuditRow[] =>
  ctx.actor.kind === 'member' ? [auditEntryOf(ctx, event)] : []

type AuditRow = NonNullable<NewRows['auditEntries']>[number]

function auditEntryOf(
  { actor: caller, deps, organization, mode, origin, bulkChangeId }: AuditContext,
  event: AuditEvent,
): AuditRow {
  const { action, target, details = {} } = event
  const keyId = caller.kind === 'member' ? (caller.viaKey ?? caller.simulatedBy) : undefined
  const actor = keyId ? { kind: 'apiKey' as const, id: keyId } : caller
  return {
    id: deps.newId(),
    organizationId: organization.id,
    mode: (mode === 'test' && isOnData(action) ? 'test' : 'live') satisfies KeyMode,
    actorKind: actor.kind,
    actorId: actor.kind === 'member' || actor.kind === 'apiKey' ? actor.id : null,
    action,
    targetKind: target?.kind ?? null,
    targetId: target?.id ?? null,
    details: { ...details, ...(bulkChangeId && { bulkChangeId }) },
    bulkChangeId: bulkChangeId ?? null,
    at: deps.clock(),
    address: origin?.address ?? null,
    userAgent: origin?.userAgent.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    sessionId: origin?.sessionId ?? null,
    requestId: origin?.requestId ?? null,
  }
}

const isOnData = (action: AuditAction): boolean => DATA_ACTIONS.some((dataAction) => dataAction === action)

/** Deletes audit entries that are older than their organization's setting, a year by default. */
export async function deleteExpiredAuditEntries({ db, deps }: ServiceContext): Promise<void> {
  const now = deps.clock()
  await repeatBatch(ENTRIES_AT_ONCE, (atMost) => {
    // Each organization's oldest are looked at, so that what others keep for longer costs nothing.
    const old = unscoped(db)
      .selectFrom('organizations')
      .leftJoin('organizationSecurity', 'organizationSecurity.organizationId', 'organizations.id')
      .innerJoinLateral(
        (eb) =>
          eb
            .selectFrom('auditEntries')
            .select('auditEntries.id')
            .whereRef('auditEntries.organizationId', '=', 'organizations.id')
            .where(({ ref }) => {
              const retention = sql`coalesce(${ref('auditRetentionDays')}, ${AUDIT_RETENTION_DAYS.minimum}::integer) * interval '24 hours'`
              return sql<boolean>`${ref('at')} <= ${now}::timestamptz - ${retention}`
            })
            .orderBy('auditEntries.at')
            .limit(atMost)
            .as('oldest'),
        (join) => join.onTrue(),
      )
      .select('oldest.id')
      .limit(atMost)
    return affectedRows(unscoped(db).deleteFrom('auditEntries').where('id', 'in', old))
  })
}
