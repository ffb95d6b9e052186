import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

// Speech recognition is off until an admin agrees to the host that recordings are sent to. Another host needs another agreement.

/** @property service the operator's; null: none is connected. @property agreedHost null: off. */
export type TranscriptionSettings = {
  service: { host: string; model: string } | null
  agreedHost: string | null
  isOn: boolean
}

const findAgreedHost = async ({ db, organization }: Context): Promise<string | null> =>
  (await db.organization.findUniqueOrThrow({ where: { id: organization.id }, select: { transcriptionHost: true } }))
    .transcriptionHost

/** True if recordings may be sent: for the terms that candidates agree to. */
export async function isTranscribing(ctx: Context): Promise<boolean> {
  const { transcriber } = ctx.deps
  return transcriber !== undefined && (await findAgreedHost(ctx)) === transcriber.host
}

/** @throws DomainError not_permitted. */
export async function readTranscription(ctx: Context): Promise<TranscriptionSettings> {
  authorize(ctx, 'manage_settings')
  const { transcriber } = ctx.deps
  const agreedHost = await findAgreedHost(ctx)
  const service = transcriber ? { host: transcriber.host, model: transcriber.model } : null
  return { service, agreedHost, isOn: service !== null && service.host === agreedHost }
}

/**
 * Agrees to send recordings to a host, or ends it. Ending it also drops the recordings that wait.
 *
 * @param host as the page showed it; null: off.
 * @throws DomainError not_permitted; invalid: `host` that is not the service's any more.
 */
export async function changeTranscription(ctx: Context, host: string | null): Promise<void> {
  authorize(ctx, 'manage_settings')
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    await db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    throwIfIssues(
      host === null || host === deps.transcriber?.host ? [] : [{ field: deps.transcriber ? 'host' : '', rule: 'required' }],
    )
    const before = await findAgreedHost(inside)
    if (before === host) return
    await db.organization.update({ where: { id: organization.id }, data: { transcriptionHost: host, updatedAt: deps.clock() } })
    const waiting = { organizationId: organization.id, state: { in: ['waiting', 'queued'] } }
    await db.transcript.deleteMany({ where: waiting })
    await db.caption.deleteMany({ where: waiting })
    await recordAudit(inside, { action: 'changed_transcription', details: { before, after: host } })
  })
}
