import type { InviteSource } from '../../generated/prisma/client.ts'
import type { Context, KeyMode } from '../context.ts'

export const KEY_MODES = ['live', 'test'] as const satisfies KeyMode[]

export type Author = { createdById: string | null; createdByKeyId: string | null; mode: KeyMode }

/** Mode of new rows: `test` for a test scope, `live` for every other. */
export const modeOf = ({ mode }: Pick<Context, 'mode'>): KeyMode => (mode === 'test' ? 'test' : 'live')

export const INVITE_SOURCES = ['api', 'portal', 'import', 'ats', 'open'] as const satisfies InviteSource[]

/** Source of the invites that this actor creates. */
export function sourceOf({ actor }: Pick<Context, 'actor'>): InviteSource {
  if (actor.kind === 'member') return actor.viaKey || actor.simulatedBy ? 'api' : 'portal'
  if (actor.kind === 'apiKey') return 'api'
  if (actor.kind === 'visitor') return 'open'
  return actor.kind === 'ats' ? 'ats' : 'import'
}

/** Columns that name the creator of a row: the member, or the API key and its member. */
export function authorOf(ctx: Pick<Context, 'actor' | 'mode'>): Author {
  const { actor } = ctx
  const mode = modeOf(ctx)
  if (actor.kind === 'member') return { createdById: actor.id, createdByKeyId: null, mode }
  if (actor.kind === 'apiKey') return { createdById: actor.createdById, createdByKeyId: actor.id, mode }
  if (actor.kind === 'ats') return { createdById: actor.createdById, createdByKeyId: null, mode }
  return { createdById: null, createdByKeyId: null, mode }
}
