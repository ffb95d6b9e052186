import type { Context, ServiceContext } from '../domain/context.ts'

/** Something that was done, and when: milliseconds since 1970. */
export type Step = { at: number; run: (ctx: Context) => Promise<unknown> }

/** The context, with its clock set to a time in milliseconds since 1970. */
export const asOf = <Ctx extends ServiceContext>(ctx: Ctx, time: number): Ctx => ({
  ...ctx,
  deps: { ...ctx.deps, clock: () => new Date(time) },
})

/** Does it all in the order of time, each step as if it were its time: so ids, events and the audit log have that order, too. */
export async function relive(ctx: Context, steps: readonly Step[]): Promise<void> {
  for (const { at, run } of steps.toSorted((a, b) => a.at - b.at)) await run(asOf(ctx, at))
}
