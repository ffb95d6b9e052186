import type { Context, KeyMode } from '../context.ts'

export const KEY_MODES = ['live', 'test'] as const satisfies KeyMode[]

/** Who created a row, and in which mode, as its columns have it. */
export type Author = { createdById: string | null; createdByKeyId: string | null; mode: KeyMode }

/** Of what is created: who sees test data alone creates test data, everybody else live data. */
export const modeOf = ({ mode }: Pick<Context, 'mode'>): KeyMode => (mode === 'test' ? 'test' : 'live')

/** What a member creates is attributed to that member; rows created with an API key to the key's member. */
export function authorOf(ctx: Pick<Context, 'actor' | 'mode'>): Author {
  const { actor } = ctx
  const mode = modeOf(ctx)
  if (actor.kind === 'member') return { createdById: actor.id, createdByKeyId: null, mode }
  if (actor.kind === 'apiKey') return { createdById: actor.createdById, createdByKeyId: actor.id, mode }
  if (actor.kind === 'ats') return { createdById: actor.createdById, createdByKeyId: null, mode }
  return { createdById: null, createdByKeyId: null, mode }
}
