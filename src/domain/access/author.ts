import type { Context, KeyMode } from '../context.ts'

export const KEY_MODES = ['live', 'test'] as const satisfies KeyMode[]

/** Who has made a row, as rows say it, and in which mode. */
export type Author = { createdById: string | null; createdByKeyId: string | null; mode: KeyMode }

/** Test keys work on test invites, everybody else on live ones. */
export const modeOf = ({ actor }: Pick<Context, 'actor'>): KeyMode => (actor.kind === 'apiKey' ? actor.mode : 'live')

/** What is made with a key is its member's, and of its mode. */
export function authorOf(ctx: Pick<Context, 'actor'>): Author {
  const key = ctx.actor.kind === 'apiKey' ? ctx.actor : undefined
  return { createdById: key?.createdById ?? null, createdByKeyId: key?.id ?? null, mode: modeOf(ctx) }
}
