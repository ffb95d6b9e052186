import type { Context, KeyMode } from '../context.ts'

export const KEY_MODES = ['live', 'test'] as const satisfies KeyMode[]

/** Who created a row, and in which mode, as its columns have it. */
export type Author = { createdById: string | null; createdByKeyId: string | null; mode: KeyMode }

/** Test keys create test invites, everybody else creates live ones. */
export const modeOf = ({ actor }: Pick<Context, 'actor'>): KeyMode => (actor.kind === 'apiKey' ? actor.mode : 'live')

/** Rows created with an API key are attributed to the key's member, and have the key's mode. */
export function authorOf(ctx: Pick<Context, 'actor'>): Author {
  const key = ctx.actor.kind === 'apiKey' ? ctx.actor : undefined
  return { createdById: key?.createdById ?? null, createdByKeyId: key?.id ?? null, mode: modeOf(ctx) }
}
