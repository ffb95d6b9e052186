import type { Context, KeyMode } from '../context.ts'

export const KEY_MODES = ['live', 'test'] as const satisfies KeyMode[]

/** Who created a row, and in which mode, as its columns have it. */
export type Author = { createdById: string | null; createdByKeyId: string | null; mode: KeyMode }

/** Test keys create test invites, everybody else creates live ones. */
export const modeOf = ({ actor }: Pick<Context, 'actor'>): KeyMode =>
  actor.kind === 'apiKey' || actor.kind === 'ats' ? actor.mode : 'live'

/** What a member creates is attributed to that member; rows created with an API key to the key's member, and they have the key's mode. */
export function authorOf(ctx: Pick<Context, 'actor'>): Author {
  const { actor } = ctx
  const mode = modeOf(ctx)
  if (actor.kind === 'member') return { createdById: actor.id, createdByKeyId: null, mode }
  if (actor.kind === 'apiKey') return { createdById: actor.createdById, createdByKeyId: actor.id, mode }
  if (actor.kind === 'ats') return { createdById: actor.createdById, createdByKeyId: null, mode }
  return { createdById: null, createdByKeyId: null, mode }
}
